// SPDX-License-Identifier: Apache-2.0
// Training in bfloat16 against fp32.
#include "sinter/precision/bf16.hpp"
#include "sinter/memory/checkpoint.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/optimizer/adamw.hpp"
#include "support/batches.hpp"
#include "support/copies.hpp"
#include "support/recipes.hpp"
#include "support/trainers.hpp"
#include "unit/files/support.hpp"

namespace sinter::detail::testing::bf16_tests {

using Small = Gpt2<{.layers = 3, .heads = 4, .width = 48, .vocabulary = 31, .positions = 24}>;
template <int Micro, class... Policies>
using Text = Made<Small, UpTo<24, 31>, Batch<{.global = 4, .micro = Micro}>,
                  AdamW<{.lr = 3e-3, .weight_decay = .1}>, Policies...>;
HostBatch text(std::uint64_t seed) { return token_batch({24, 7, 24, 16}, 31, seed); }

static_assert(copied_once<Text<1, Bf16>>() && copied_once<Text<4, Bf16, Checkpoint<>>>());

// What the plan says: activations halve, one more copy of the weights.
static_assert(Plan<Text<4, Bf16>>::memory.weights * 2 == Plan<Text<4, Bf16>>::memory.parameters);
static_assert(Plan<Text<4, Bf16>>::memory.optimizer == Plan<Text<4, Fp32>>::memory.optimizer);
static_assert(Plan<Text<4, Bf16>>::memory.gradients == Plan<Text<4, Fp32>>::memory.gradients);
static_assert(Plan<Text<4, Bf16>>::memory.activations <
              0.62 * Plan<Text<4, Fp32>>::memory.activations);

/// Each rounding errs by at most 2^-8 of the number, and by some 2^-9.2 of it as a root mean
/// square. A gradient passes about ten in a block, forward and backward, so with random signs it
/// errs by some √(2 · 10 · 3 blocks) 2^-9.2 = 1.3 %.
TEST_CASE("gradients are those of fp32, to the rounding of activations") {
  Trainer<Text<4, Fp32>> full({.seed = 1, .threads = 1});
  Trainer<Text<4, Bf16>> half({.seed = 1, .threads = 1});
  Applied a = applied(full, text(1)), b = applied(half, text(1));
  CHECK(relative_difference(b.loss.mean(), a.loss.mean()) < 0x1p-9);
  for (const auto& [name, want] : gradients_of(full)) {
    CAPTURE(name);
    Numbers difference = half.gradient(name);
    for (std::size_t k = 0; k < want.size(); ++k) difference[k] -= want[k];
    CHECK(norm_of(difference) < .03 * norm_of(want) + 1e-6);
    CHECK(norm_of(difference) > 0);
  }
}

/// The runs drift apart, as the same errors are made anew in every step; not far in forty.
TEST_CASE("the loss falls as in fp32") {
  Trainer<Text<2, Fp32>> full({.seed = 1, .threads = 1});
  Trainer<Text<2, Bf16>> half({.seed = 1, .threads = 1});
  double first = 0, last = 0;
  for (int s = 0; s < 40; ++s) {
    CAPTURE(s);
    const double want = applied(full, text(s % 4)).loss.mean();
    last = applied(half, text(s % 4)).loss.mean();
    CHECK(relative_difference(last, want) < .02);
    if (s == 0) first = last;
  }
  CHECK(last < .8 * first);
}

/// Rows do not see how the batch is split; sums over rows are fp32.
TEST_CASE("any split of the batch gives the same gradients") {
  Trainer<Text<4, Bf16>> whole({.seed = 1, .threads = 1});
  Trainer<Text<1, Bf16>> split({.seed = 1, .threads = 1});
  Applied a = applied(whole, text(1)), b = applied(split, text(1));
  CHECK(relative_difference(b.loss.mean(), a.loss.mean()) < 1e-6);
  for (const auto& [name, want] : gradients_of(whole)) {
    CAPTURE(name);
    CHECK(relative_difference(split.gradient(name), want) < 1e-4);
  }
}

TEST_CASE("a checkpoint holds the master weights, and the copy follows them") {
  TemporaryFolder folder;
  Trainer<Text<2, Bf16>> trainer({.seed = 1, .threads = 1}), again({.seed = 2, .threads = 1});
  for (int s = 0; s < 3; ++s) applied(trainer, text(s));
  trainer.save(folder / "saved");
  again.load(folder / "saved");
  CHECK(again.evaluate(text(9)).sum == trainer.evaluate(text(9)).sum);
  for (int s = 3; s < 6; ++s)
    CHECK(applied(again, text(s)).loss.sum == applied(trainer, text(s)).loss.sum);
  CHECK(parameters_of(again) == parameters_of(trainer));

  Trainer<Text<2, Fp32>> full({.seed = 3, .threads = 1});
  full.load_weights(folder / "saved");
  again.load(folder / "saved");
  CHECK(parameters_of(full) == parameters_of(again));
}

TEST_CASE("a skipped step leaves the copy as it is") {
  using R = Made<Mlp<{.in = 2, .hidden = 8, .out = 1}>, Batch<{.global = 4, .micro = 4}>, Bf16>;
  Trainer<R> trainer({.seed = 1, .threads = 1});
  HostBatch good = regression_batch({1, 1, 1, 1}, 2, 1, 1), bad = good;
  bad.values[0][1] = NAN;
  applied(trainer, good);
  const double before = trainer.evaluate(good).sum;
  CHECK(std::holds_alternative<Skipped>(trainer.step(bad)));
  CHECK(trainer.evaluate(good).sum == before);
  Prediction prediction = trainer.predict(good);
  CHECK(prediction.values.size() == 4);
  for (float v : prediction.values) CHECK(v == float(BFloat16(v)));
}

}  // namespace sinter::detail::testing::bf16_tests
