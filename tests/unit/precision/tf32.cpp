// SPDX-License-Identifier: Apache-2.0
// Training with rounded inputs of matmuls against fp32.
#include "sinter/precision/tf32.hpp"
#include "sinter/kernels/matmul_rate.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/optimizer/muon.hpp"
#include "support/batches.hpp"
#include "support/recipes.hpp"
#include "support/trainers.hpp"

namespace sinter::detail::testing {
namespace {

using Small = Gpt2<{.layers = 3, .heads = 4, .width = 48, .vocabulary = 31, .positions = 24}>;
template <class... Policies>
using Text = Made<Small, UpTo<24, 31>, Batch<{.global = 4, .micro = 2}>,
                  AdamW<{.lr = 1e-3, .weight_decay = .1}>, Policies...>;
HostBatch text(std::uint64_t seed) { return token_batch({24, 7, 24, 16}, 31, seed); }

bool rounds() {
  return kernel::matmul_unit<float>(kernel::MatmulInputs::rounded) != kernel::MatmulUnit::own;
}

// It is Fp32 to the plan.
static_assert(Plan<Text<Tf32>>::bytes == Plan<Text<Fp32>>::bytes);
static_assert(Plan<Text<Tf32>>::memory.weights == 0);
static_assert(Plan<Text<Tf32>>::view.matmul_inputs == kernel::MatmulInputs::rounded);
static_assert(Plan<Text<Fp32>>::view.matmul_inputs == kernel::MatmulInputs::whole);

/// Each rounding errs by at most 2^-8 of the number, and by some 2^-9.2 of it as a root mean
/// square. A gradient passes about eight products in a block, forward and backward, of two inputs
/// each: with random signs √(2 · 8 · 3 blocks) 2^-9.2 = 1.2 %.
TEST_CASE("gradients are those of fp32, to the rounding of inputs") {
  Trainer<Text<Fp32>> full({.seed = 1, .threads = 1});
  Trainer<Text<Tf32>> rounded({.seed = 1, .threads = 1});
  Applied a = applied(full, text(1)), b = applied(rounded, text(1));
  CHECK(relative_difference(b.loss.mean(), a.loss.mean()) < 0x1p-9);
  for (const auto& [name, want] : gradients_of(full)) {
    CAPTURE(name);
    Numbers difference = rounded.gradient(name);
    for (std::size_t k = 0; k < want.size(); ++k) difference[k] -= want[k];
    CHECK(norm_of(difference) < .03 * norm_of(want) + 1e-6);
    CHECK((norm_of(difference) > 0) == rounds());
  }
}

/// A step of AdamW errs by as much as its gradient, 1.2 % of its length. Weights move by little, so
/// the errors of steps are alike: at worst a hundred of them add up to 1.2 steps. So the curves are
/// no further apart than 1.2 times what the steepest step takes off the loss.
TEST_CASE("a hundred steps have the loss of fp32") {
  Trainer<Text<Fp32>> full({.seed = 1, .threads = 1});
  Trainer<Text<Tf32>> rounded({.seed = 1, .threads = 1});
  std::vector<double> want;
  double worst = 0, steepest = 0;
  for (int s = 0; s < 100; ++s) {  // four batches in turns
    want.push_back(applied(full, text(std::uint64_t(s % 4))).loss.mean());
    const double got = applied(rounded, text(std::uint64_t(s % 4))).loss.mean();
    worst = std::max(worst, std::abs(got - want.back()));
    if (s >= 4) steepest = std::max(steepest, std::abs(want[s] - want[s - 4]) / 4);
  }
  MESSAGE("losses from " << want[0] << " to " << want[99] << ", at most " << worst
                         << " apart; the steepest step takes off " << steepest);
  CHECK(worst < 1.2 * steepest);
  CHECK(want[99] < .8 * want[0]);
}

/// An optimizer's matmuls are no layer's: from the same gradients it makes the same step.
TEST_CASE("the optimizer's matmuls are fp32") {
  using Policies = Made<Small, UpTo<24, 31>, Batch<{.global = 4, .micro = 4}>, Muon<>, Tf32>;
  Trainer<Policies> trainer({.seed = 1, .threads = 2});
  CHECK(trainer.machine().stream().matmul_inputs() == kernel::MatmulInputs::whole);
  CHECK(trainer.machine().now().stream->matmul_inputs() == kernel::MatmulInputs::rounded);
  CHECK(applied(trainer, text(1)).loss.mean() > 0);
}

}  // namespace
}  // namespace sinter::detail::testing
