// SPDX-License-Identifier: Apache-2.0
// Running values, which forward itself changes: when they change, and where they are kept.
#include <limits>

#include "sinter/memory/checkpoint.hpp"
#include "sinter/parallel/ddp.hpp"
#include "sinter/parameters/freeze.hpp"
#include "support/batches.hpp"
#include "support/folder.hpp"
#include "support/layer_models.hpp"
#include "support/running_layer.hpp"
#include "support/trainers.hpp"

namespace sinter::detail::testing::running_tests {

/// With a trained layer before it, so that the unit can be frozen.
struct Counted {
  static constexpr std::array in{wide};
  static constexpr Value<wide> trace(auto& g, Value<wide> x) {
    return g("", Counter<wide>{}, g("fc", Linear<wide, wide>{}, x));
  }
};

template <class Unit, class... Policies>
using Net =
    Made<Around<Unit>, UpTo<context>, Fp64, Batch<{.global = 8, .micro = micro}>, Policies...>;
template <class Unit, class... Policies>
using OnThree = Made<Around<Unit>, UpTo<context>, Fp64, Batch<{.global = 6, .micro = micro}>,
                     Ddp<{.ranks = 3}>, Policies...>;
using Plain = Net<Alone<Counter<wide>>>;
static_assert(ready<Plain>());
static_assert(Plan<Plain>::parameters == (given_width + 1) * wide + (wide + 1) * target_width);

const HostBatch batch = regression_batch(lengths, given_width, target_width, 1);
const TrainerSettings settings{.seed = 5, .threads = 1};
constexpr double rows = 15, micro_batches = 3;

double value(const TrainerCore& trainer, const char* name) { return trainer.parameter(name)[0]; }

TEST_CASE("running values change once in each micro-batch, also if it is recomputed") {
  auto check = [](TrainerCore&& trainer) {
    for (int s = 0; s < 2; ++s) applied(trainer, batch);
    CHECK(value(trainer, "layer.rows") == 2 * rows);
    CHECK(value(trainer, "layer.calls") == 2 * micro_batches);
  };
  check(Trainer<Plain>(settings));
  check(Trainer<Net<Alone<Counter<wide>>, Checkpoint<{.policy = full}>>>(settings));
  check(Trainer<Net<Counted, Checkpoint<{.policy = full}>>>(settings));
}
TEST_CASE("evaluations, predictions and skipped steps do not change running values") {
  Trainer<Plain> trainer(settings);
  applied(trainer, batch);
  trainer.evaluate(batch);
  trainer.predict(part(batch, 0, micro));
  HostBatch bad = batch;
  bad.values[0][0] = std::numeric_limits<float>::quiet_NaN();
  CHECK(std::holds_alternative<Skipped>(trainer.step(bad)));
  CHECK(value(trainer, "layer.rows") == rows);
  applied(trainer, batch);
  CHECK(value(trainer, "layer.rows") == 2 * rows);
}
TEST_CASE(
    "running values of a frozen unit do not change, whatever their mean over ranks rounds to") {
  Trainer<OnThree<Counted, Freeze<"layer">>> trainer({.seed = 5, .threads = 3});
  const Numbers tenth{.1};  // .1 + .1 + .1 is not .3
  trainer.set_parameter("layer.rows", tenth);
  applied(trainer, regression_batch({5, 3, 1, 4, 2, 1}, given_width, target_width, 1));
  CHECK(trainer.parameter("layer.rows") == tenth);
}
TEST_CASE("ranks keep the mean of their running values") {
  Trainer<Net<Alone<Counter<wide>>, Ddp<{.ranks = 2}>>> trainer({.seed = 5, .threads = 2});
  HostBatch more = regression_batch({5, 3, 1, 4, 2, 1}, given_width, target_width, 1);
  applied(trainer, more);  // the ranks have 9 and 7 rows
  CHECK(value(trainer, "layer.rows") == 8);
  CHECK(value(trainer, "layer.calls") == 2);
  const Parameter& p = trainer.parameters()[2];
  REQUIRE(p.name == "layer.rows");
  for (int rank = 0; rank < 2; ++rank)
    CHECK(*reinterpret_cast<const double*>(
              trainer.machine(rank).parameters().part(Space::master, p).data) == 8);
}
TEST_CASE("checkpoints hold running values, and a restored trainer goes on from them") {
  TemporaryFolder folder;
  Trainer<Plain> trainer(settings), other(settings);
  applied(trainer, batch);
  trainer.save(folder / "checkpoint");
  other.load(folder / "checkpoint");
  CHECK(value(other, "layer.rows") == rows);
  applied(trainer, batch);
  applied(other, batch);
  CHECK(parameters_of(other) == parameters_of(trainer));
}

}  // namespace sinter::detail::testing::running_tests
