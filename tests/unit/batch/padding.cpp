// SPDX-License-Identifier: Apache-2.0
// Padding of rows and of the vocabulary: nobody sees it.
#include "sinter/batch/pad_rows.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/optimizer/adamw.hpp"
#include "sinter/parallel/ddp.hpp"
#include "sinter/precision/bf16.hpp"
#include "sinter/precision/fp64.hpp"
#include "support/batches.hpp"
#include "support/recipes.hpp"
#include "support/trainers.hpp"
#include "unit/files/support.hpp"

namespace sinter::detail::testing {
namespace {

constexpr int context = 24, words = 19;
using Small = Gpt2<{.layers = 2,
                    .heads = 3,
                    .width = 24,
                    .vocabulary = words,
                    .positions = context,
                    .dropout = .2}>;
template <int Micro, class... Policies>
using Net = Made<Small, UpTo<context, words>, Batch<{.global = 12, .micro = Micro}>, Policies...>;

HostBatch ragged() {
  return token_batch({5, 24, 1, 7, 24, 24, 3, 24, 24, 24, 24, 2}, words, 3, .25);
}
HostBatch regular() { return token_batch({8, 16, 24, 24, 8, 8, 24, 16, 8, 8, 8, 24}, words, 5); }

/// Sees that the rows of every call are a multiple.
struct Multiples final : Observer {
  int multiple, seen = 0, padded = 0;
  const HostBatch& batch;
  Multiples(int m, const HostBatch& b) : multiple(m), batch(b) {}
  void before(const Machine& machine, int, int) override {
    const Sequences& s = machine.now().sequences[0];
    if (!s.count) return;
    ++seen;
    CHECK(s.rows() % multiple == 0);
    padded += s.rows() - s.starts[s.count - 1] < multiple;
  }
  void after(const Machine&, int, int) override {}
};

template <class Padded, class Plain>
void same(const HostBatch& batch, double bound) {
  Trainer<Padded> padded({.seed = 5, .threads = 1});
  Trainer<Plain> plain({.seed = 5, .threads = 1});
  randomise(padded, 7, .2);
  set_parameters(plain, parameters_of(padded));
  for (int step = 0; step < 2; ++step) {
    poison(padded);
    poison(plain);
    const Loss a = padded.evaluate(batch), b = plain.evaluate(batch);
    CHECK(a.count == b.count);
    CHECK(relative_difference(a.sum, b.sum) <= bound);
    const Prediction p = padded.predict(batch), q = plain.predict(batch);
    CHECK(p.values == q.values);
    CHECK(p.rows == q.rows);
    const Applied got = applied(padded, batch), want = applied(plain, batch);
    CHECK(got.loss.count == want.loss.count);
    CHECK(relative_difference(got.loss.sum, want.loss.sum) <= bound);
    for (const auto& [name, gradient] : gradients_of(plain)) {
      CAPTURE(name);
      CHECK(relative_difference(padded.gradient(name), gradient) <= bound);
    }
    set_parameters(plain, parameters_of(padded));
  }
}

TEST_CASE("rows are a multiple in every micro-batch, of training and of evaluation") {
  const HostBatch batch = ragged();
  Trainer<Net<2, PadRows<>>> eight({.threads = 1});
  Trainer<Net<4, PadRows<{.multiple = 6}>>> six({.threads = 1});
  auto check = [&](TrainerCore& trainer, int multiple) {
    Multiples seen(multiple, batch);
    trainer.observe({&seen});
    applied(trainer, batch);
    trainer.evaluate(batch);
    trainer.observe({});
    CHECK(seen.seen > 20);
    CHECK(seen.padded > 5);
  };
  check(eight, 8);
  check(six, 6);
}

TEST_CASE("where nothing is to be padded, the bits are the same") {
  same<Net<4, PadRows<>>, Net<4>>(regular(), 0);
  same<Net<2, Bf16, PadRows<>>, Net<2, Bf16>>(regular(), 0);
}

/// Padding adds exact zeros: only where a sum over the rows is split may change, which is an error
/// of (rows + 2) u of the sum of magnitudes. That sum is less than 100 times the largest gradient
/// here.
TEST_CASE("padding changes nothing but where sums over rows are split") {
  const double rows = ragged().rows() + 2;
  same<Net<4, Fp64, PadRows<>>, Net<4, Fp64>>(ragged(), 100 * rows * 0x1p-53);
  same<Net<1, Fp64, PadRows<>>, Net<1, Fp64>>(ragged(), 100 * rows * 0x1p-53);
  same<Net<12, Fp64, PadRows<{.multiple = 24}>>, Net<12, Fp64>>(ragged(), 100 * rows * 0x1p-53);
  same<Net<4, PadRows<>>, Net<4>>(ragged(), 100 * rows * 0x1p-24);
  using Two = Ddp<{.ranks = 2}>;
  same<Net<2, Fp64, Two, PadRows<>>, Net<2, Fp64, Two>>(ragged(), 100 * rows * 0x1p-53);
}

template <int Multiple>
using Vocabulary = Gpt2<{.layers = 2,
                         .heads = 3,
                         .width = 24,
                         .vocabulary = words,
                         .positions = context,
                         .vocabulary_multiple = Multiple}>;
template <int Multiple, class... Policies>
using Words = Made<Vocabulary<Multiple>, UpTo<context, words>, Batch<{.global = 12, .micro = 4}>,
                   Policies...>;

/// Padding adds exact zeros to the sums over the vocabulary, at their end; where the vendor
/// multiplies, it may cut sums in other places.
TEST_CASE("a padded vocabulary changes nothing, and its rows stay zeros") {
  same<Words<64, Fp64>, Words<1, Fp64>>(ragged(), 100 * words * 0x1p-53);
  same<Words<8>, Words<1>>(ragged(), 100 * words * 0x1p-24);
  same<Words<64, Bf16>, Words<1, Bf16>>(ragged(), 100 * words * 0x1p-8);

  using Padded = Words<64, AdamW<{.weight_decay = .1}>>;
  constexpr std::int64_t padding = (64 - words) * 24;
  CHECK(Plan<Padded>::parameters == Plan<Words<1>>::parameters);
  CHECK(Plan<Padded>::memory.parameters ==
        Plan<Words<1>>::memory.parameters + 4 * (64 * 24 - (words * 24 + 15) / 16 * 16));
  Trainer<Padded> trainer({.seed = 5, .threads = 2});
  for (int step = 0; step < 5; ++step) applied(trainer, ragged());
  const auto wte = std::ranges::find(trainer.parameters(), "wte.weight", &Parameter::name);
  CHECK(wte->shape == std::vector<std::int64_t>{words, 24});
  const float* end = trainer.machine().flat<float>(Space::master) + wte->offset + wte->size;
  CHECK(std::all_of(end, end + padding, [](float w) { return w == 0; }));
}

TEST_CASE("files have no padding") {
  TemporaryFolder folder;
  Trainer<Words<64>> padded({.seed = 5, .threads = 1});
  applied(padded, ragged());
  padded.save(folder / "padded");
  Trainer<Words<1>> plain({.seed = 6, .threads = 1});
  plain.load_weights(folder / "padded");
  CHECK(parameters_of(plain) == parameters_of(padded));
  Trainer<Words<64>> again({.seed = 7, .threads = 1});
  again.load(folder / "padded");
  applied(again, ragged());
  applied(padded, ragged());
  CHECK(parameters_of(again) == parameters_of(padded));
}

}  // namespace
}  // namespace sinter::detail::testing
