// SPDX-License-Identifier: Apache-2.0
// Stage 3: a rank keeps its shards of the weights alone, and fetches those of a unit before they are read.
// Otherwise it does what stage 2 does, to the same bits.
#include "program/models.hpp"
#include "sinter/memory/checkpoint.hpp"
#include "sinter/optimizer/lion.hpp"
#include "sinter/optimizer/sgd.hpp"
#include "sinter/parameters/average.hpp"
#include "sinter/parameters/freeze.hpp"
#include "sinter/proof/simulate.hpp"
#include "unit/parallel/zero_recipes.hpp"

namespace sinter::detail::testing::zero_weights_tests {

// ---- the same bits
/// Among them batches that leave a rank without a sequence.
HostBatch with_few(int step) {
  if (step % 4 != 3) return batch_of(step);
  return token_batch(step % 8 == 3 ? std::vector{4, 12, 7} : std::vector{9}, vocabulary,
                     std::uint64_t(step) + 1, .2);
}
/// An arena that is smaller evaluates fewer sequences at once: then losses are summed in another order.
void check_predictions(TrainerCore& a, TrainerCore& b) {
  const bool alike = a.plan().evaluation_micro == b.plan().evaluation_micro;
  for (int step : {0, 3, 7}) {
    const HostBatch batch = with_few(step);
    CHECK(relative_difference(a.evaluate(batch).sum, b.evaluate(batch).sum) <= (alike ? 0 : 1e-6));
    const Prediction want = a.predict(batch), got = b.predict(batch);
    CHECK(got.rows == want.rows);
    CHECK(got.values == want.values);
    std::vector<float> all_want, all_got;
    const auto add_to = [](std::vector<float>& all) {
      return [&all](const Prediction& part) {
        all.insert(all.end(), part.values.begin(), part.values.end());
      };
    };
    a.predict_rows(batch, add_to(all_want));
    b.predict_rows(batch, add_to(all_got));
    CHECK(!all_want.empty());
    CHECK(all_got == all_want);
  }
}
template <int Ranks, class... Policies>
void same_as_stage_2(const char* what) {
  CAPTURE(what);
  CAPTURE(Ranks);
  const TrainerSettings settings{.seed = 3, .threads = Ranks};
  Trainer<Tiny<Split<Ranks, 2>, Policies...>> second(settings);
  Trainer<Tiny<Split<Ranks, 3>, Policies...>> third(settings);
  check_same(second, third, with_few);
  check_predictions(second, third);
}

TEST_CASE("stage 3 has the bits of stage 2") {
  same_as_stage_2<4, Decaying, Fp32, Clipped>("Fp32");
  same_as_stage_2<2, Decaying, Bf16, Clipped, Checkpoint<{.policy = full}>>("Bf16, recomputed");
  same_as_stage_2<4, Lion<{.lr = 1e-3}>, Fp16<>, Checkpoint<{.policy = selective}>>("Fp16");
  same_as_stage_2<2, Sgd<{.lr = .1, .momentum = .9}>, Fp16<{.masters = false}>>("fp16 weights");
  same_as_stage_2<2, Decaying, Fp64, Average<{.decay = .9}>>("Fp64, average");
}
TEST_CASE("stage 3 without accumulation has the bits of Ddp") {
  Trainer<Small<4, Whole<2>, Decaying, Bf16, Clipped>> whole({.seed = 3, .threads = 2});
  Trainer<Small<4, Split<2, 3>, Decaying, Bf16, Clipped>> split({.seed = 3, .threads = 2});
  check_same(whole, split, with_few);
}
TEST_CASE("stage 3 has the bits of stage 2 if a part of the model is not trained") {
  same_as_stage_2<2, Decaying, Fp32, Clipped, Freeze<"wte", "wpe">>("a frozen table");
  same_as_stage_2<4, Decaying, Bf16, Clipped, Freeze<"h.1">>("a frozen block");
}

TEST_CASE("stage 3 has the bits of stage 2 with running values and units with two outputs") {
  using Four = Batch<{.global = 4, .micro = 1}>;
  const auto batches = [](int step) { return letters({5, 3, 6, 2}, step); };
  const auto check = [&]<class Model>(Model*) {
    Trainer<Made<Letters, Model, Four, Split<2, 2>, Bf16>> second({.seed = 3, .threads = 2});
    Trainer<Made<Letters, Model, Four, Split<2, 3>, Bf16>> third({.seed = 3, .threads = 2});
    check_same(second, third, batches);
  };
  check(static_cast<Counting*>(nullptr));
  check(static_cast<Fused*>(nullptr));
}

TEST_CASE("stage 3 on one rank keeps everything") {
  Trainer<Tiny<Whole<1>, Decaying>> whole({.seed = 3, .threads = 1});
  Trainer<Tiny<Split<1, 3>, Decaying>> split({.seed = 3, .threads = 1});
  check_same(whole, split);
}

// ---- memory and volume
/// The most bytes of a space that comes and goes which are in the arena at once.
template <class R>
constexpr std::int64_t max_at_once(std::span<const Buffer> buffers, int instructions, Space space) {
  std::int64_t most = 0;
  for (int t = 0; t < instructions; ++t) {
    std::int64_t bytes = 0;
    for (const Buffer& b : buffers)
      if (b.space == space && b.first <= t && t <= b.last) bytes += b.bytes;
    most = std::max(most, bytes);
  }
  return most;
}
template <int Count, int Bytes, class... Policies>
constexpr bool is_the_formula() {
  using R = Tiny<Zero<{.stage = 3, .bucket_bytes = 1, .ranks = Count}>, Decaying, Policies...>;
  using P = Plan<R>;
  const std::int64_t held = P::model.elements() / Count;
  const auto unit = [](int u) { return aligned(P::model.unit_elements(u) * Bytes); };
  // The block at hand, and the one that is being fetched; at the end, the tied table and a block.
  const std::int64_t weights = std::max(2 * unit(1), unit(0) + unit(1) + unit(3));
  return P::memory.parameters == aligned(held * 4) && P::memory.weights == 0 &&
         P::memory.gradients == aligned(held * 4) && P::memory.optimizer == 2 * aligned(held * 4) &&
         max_at_once<R>(P::training.buffers.view(), int(P::program.size()), Space::weights) <=
             weights;
}
static_assert(is_the_formula<2, 4>() && is_the_formula<4, 2, Bf16>());

/// Bytes of all-gathers that a rank states in a step of so many micro-batches.
template <class R>
constexpr std::int64_t gathered(int ranks, int micro_batches) {
  std::int64_t bytes = 0;
  for (const Event& event :
       Communication(Plan<R>::program, true).events(Plan<R>::model, {0, ranks, 0, micro_batches}))
    if (event.traffic.operation == Operation::all_gather && event.traffic.does == Traffic::starts)
      bytes += event.traffic.bytes();
  return bytes;
}
/// In each micro-batch blocks are fetched for forward and for backward; the table for both of its uses, as its
/// look-up has no backward that reads it; and what forward reads last once, as backward begins with it.
template <class R, int Micro>
constexpr bool moves_as_the_formula(int bytes) {
  const Model& model = Plan<R>::model;
  return gathered<R>(2, Micro) == Micro * bytes * (2 * model.elements() - model.unit_elements(3));
}
static_assert(moves_as_the_formula<Tiny<Split<2, 3>, Decaying>, 1>(4));
static_assert(moves_as_the_formula<Tiny<Split<2, 3>, Decaying, Bf16>, 4>(2));

TEST_CASE("all weights but the first of a micro-batch are fetched while others are computed with") {
  CHECK(exposed_fetches(Plan<Tiny<Split<2, 3>, Decaying>>::view, fetch_weights_kind,
                        await_weights_kind) == 1);
}

TEST_CASE("the arena of each rank has its shards alone") {
  using R = Tiny<Split<4, 3>, Decaying>;
  Trainer<R> trainer({.seed = 3, .threads = 4});
  take_steps(trainer, 0, 2);
  const std::int64_t held = aligned(Plan<R>::model.elements() / 4 * 4);
  for (int rank = 0; rank < 4; ++rank) {
    const Machine& machine = trainer.machine(rank);
    CHECK(std::int64_t(machine.arena().size()) == Plan<R>::bytes);
    CHECK(machine.flat<std::byte>(Space::master).size == held);
    CHECK(machine.flat<std::byte>(Space::gradient).size == held);
    CHECK(machine.flat<std::byte>(Space::weights).data == nullptr);
  }
  const Parameter& p = trainer.parameters()[0];
  CHECK_THROWS_AS((void)trainer.machine().parameters().part(Space::master, p), Error);
  CHECK_THROWS_WITH_AS((void)trainer.machine().parameters().part(Space::weights, p),
                       doctest::Contains("come and go"), Error);
}

}  // namespace sinter::detail::testing::zero_weights_tests
