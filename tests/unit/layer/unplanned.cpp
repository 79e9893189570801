// SPDX-License-Identifier: Apache-2.0
// Layers with an object of their own: when it is asked to leave something for backward.
#include <algorithm>

#include "sinter/memory/checkpoint.hpp"
#include "sinter/trainer/check_gradients.hpp"
#include "support/batches.hpp"
#include "support/layer_models.hpp"
#include "support/trainers.hpp"
#include "support/unplanned_layer.hpp"

namespace sinter::detail::testing::unplanned_tests {

/// A memory policy that recomputes all layers inside their units.
struct RecomputeInside {
  using slot = slot::memory;
  static constexpr bool recomputed_inside(const Layer&) { return true; }
};
/// The square inside of a unit, not at its end, so that it may be recomputed there.
struct Inner {
  static constexpr std::array in{wide};
  static constexpr Value<wide> trace(auto& g, Value<wide> x) {
    return g("after", Linear<wide, wide>{}, g("square", Square<wide>{}, x));
  }
};

template <class Unit, class Memory>
using Net =
    Made<Around<Unit>, UpTo<context>, Fp64, Batch<{.global = global, .micro = micro}>, Memory>;

const HostBatch batch = regression_batch(lengths, given_width, target_width, 1);
constexpr int micro_batches = 3;

std::int64_t count(Pass pass) { return std::ranges::count(passes, pass); }

/// The parameters after three steps.
template <class R>
NamedNumbers after_steps(TrainerSettings settings = {.seed = 5, .threads = 1}) {
  Trainer<R> trainer(settings);
  randomise(trainer, 7);
  passes.clear();
  for (int s = 0; s < 3; ++s) applied(trainer, batch);
  return parameters_of(trainer);
}

TEST_CASE("without recomputation, what an unplanned layer's forward leaves is kept") {
  after_steps<Net<Alone<Square<wide>>, KeepAll>>();
  CHECK(count(Pass::kept) == 3 * micro_batches);
  CHECK(std::int64_t(passes.size()) == 3 * micro_batches);
}
TEST_CASE("if its unit is recomputed, only an unplanned layer's second forward leaves something") {
  after_steps<Net<Alone<Square<wide>>, Checkpoint<{.policy = full}>>>();
  CHECK(count(Pass::dropped) == 3 * micro_batches);
  CHECK(count(Pass::again) == 3 * micro_batches);
  CHECK(std::int64_t(passes.size()) == 6 * micro_batches);
}
TEST_CASE(
    "if recomputed inside its unit, only an unplanned layer's second forward leaves something") {
  after_steps<Net<Inner, RecomputeInside>>();
  CHECK(count(Pass::dropped) == 3 * micro_batches);
  CHECK(count(Pass::again) == 3 * micro_batches);
}
TEST_CASE("an unplanned layer leaves nothing in an evaluation and a prediction") {
  Trainer<Net<Alone<Square<wide>>, KeepAll>> trainer({.seed = 5, .threads = 1});
  passes.clear();
  trainer.evaluate(batch);
  trainer.predict(part(batch, 0, micro));
  CHECK(count(Pass::alone) == std::int64_t(passes.size()));
  CHECK(passes.size() >= 2);
}

TEST_CASE("every way to recompute an unplanned layer gives the same bits") {
  const NamedNumbers kept = after_steps<Net<Inner, KeepAll>>();
  CHECK(after_steps<Net<Inner, Checkpoint<{.policy = full}>>>() == kept);
  CHECK(after_steps<Net<Inner, Checkpoint<{.policy = selective}>>>() == kept);
  CHECK(after_steps<Net<Inner, RecomputeInside>>() == kept);
}

TEST_CASE(
    "gradients of an unplanned layer are right, also if it is used twice on the same operands") {
  const GradientReport alone = check_gradients<Net<Alone<Square<wide>>, KeepAll>>(batch);
  INFO(alone.text());
  CHECK(alone.passed());
  const GradientReport twice = check_gradients<Net<Doubled<Square<wide>>, KeepAll>>(batch);
  INFO(twice.text());
  CHECK(twice.passed());
}

}  // namespace sinter::detail::testing::unplanned_tests
