// SPDX-License-Identifier: Apache-2.0
// Running values, which forward itself changes: when they change, and where they are kept.
#include <limits>

#include "sinter/memory/checkpoint.hpp"
#include "sinter/parallel/ddp.hpp"
#include "sinter/parameters/freeze.hpp"
#include "support/batches.hpp"
#include "support/folder.hpp"
#include "support/layer_models.hpp"
#include "support/trainers.hpp"

namespace sinter::testing {
namespace {

class CounterObject final : public LayerObject {
  void forward(const Call& call) override {
    const Tensor x = call.tensor<double>(call.x[0]), y = call.tensor<double>(call.y[0]);
    for (std::int64_t k = 0; k < x.size(); ++k) y.data[k] = x.data[k];
    if (call.frozen || (call.pass != Pass::kept && call.pass != Pass::dropped)) return;
    call.tensor<double>(call.weights[0])(0, 0) += x.rows;
    call.tensor<double>(call.weights[1])(0, 0) += 1;
  }
  void backward(const Call& call) override {
    const Tensor dy = call.tensor<double>(call.dy[0]), dx = call.tensor<double>(call.dx[0]);
    for (int r = 0; r < dy.rows; ++r)
      for (int k = 0; k < dy.columns; ++k) dx.put(r, k, dy(r, k));
  }
};

/// y = x, and counts rows and calls.
template <int W>
struct Counter {
  static constexpr std::array in{W};
  static constexpr std::array out{W};
  static constexpr std::array params{running("rows", {1}, zeros), running("calls", zeros)};
  static constexpr bool unplanned = true;
  template <class P>
  static std::unique_ptr<LayerObject> object() {
    return std::make_unique<CounterObject>();
  }
  static void forward(auto& c) { c.untyped().object->forward(c.untyped()); }
  static void backward(auto& c) { c.untyped().object->backward(c.untyped()); }
};
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
using Plain = Net<Alone<Counter<wide>>>;
static_assert(ready<Plain>());
static_assert(Plan<Plain>::parameters == (given_width + 1) * wide + (wide + 1) * target_width);

const HostBatch batch = regression_batch(lengths, given_width, target_width, 1);
constexpr TrainerSettings settings{.seed = 5, .threads = 1};
constexpr double rows = 15, micro_batches = 3;

double value(const TrainerCore& trainer, const char* name) { return trainer.parameter(name)[0]; }

TEST_CASE("they change once in each micro-batch, also where it is recomputed") {
  auto check = [](TrainerCore&& trainer) {
    for (int s = 0; s < 2; ++s) applied(trainer, batch);
    CHECK(value(trainer, "layer.rows") == 2 * rows);
    CHECK(value(trainer, "layer.calls") == 2 * micro_batches);
  };
  check(Trainer<Plain>(settings));
  check(Trainer<Net<Alone<Counter<wide>>, Checkpoint<{.policy = full}>>>(settings));
  check(Trainer<Net<Counted, Checkpoint<{.policy = full}>>>(settings));
}
TEST_CASE("an evaluation, a prediction and a step that is not applied leave them alone") {
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
TEST_CASE("those of a frozen unit stay as they are") {
  Trainer<Net<Counted, Freeze<"layer">>> trainer(settings);
  applied(trainer, batch);
  CHECK(value(trainer, "layer.rows") == 0);
}
TEST_CASE("ranks keep their mean") {
  Trainer<Net<Alone<Counter<wide>>, Ddp<{.ranks = 2}>>> trainer({.seed = 5, .threads = 2});
  HostBatch more = regression_batch({5, 3, 1, 4, 2, 1}, given_width, target_width, 1);
  applied(trainer, more);  // the ranks have 9 and 7 rows
  CHECK(value(trainer, "layer.rows") == 8);
  CHECK(value(trainer, "layer.calls") == 2);
  const Parameter& p = trainer.parameters()[2];
  REQUIRE(p.name == "layer.rows");
  for (int rank = 0; rank < 2; ++rank)
    CHECK(*reinterpret_cast<const double*>(trainer.machine(rank).part(Space::master, p).data) == 8);
}
TEST_CASE("checkpoints hold them, and a restored trainer goes on from them") {
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

}  // namespace
}  // namespace sinter::testing
