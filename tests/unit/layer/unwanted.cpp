// SPDX-License-Identifier: Apache-2.0
// Layers right behind the data or behind what is frozen, whose dx nobody wants.
#include "sinter/parameters/freeze.hpp"
#include "support/batches.hpp"
#include "support/layer_models.hpp"
#include "support/trainers.hpp"

namespace sinter::detail::testing::unwanted_tests {

template <int W>
struct Square {
  static constexpr std::array in{W};
  static constexpr std::array out{W};
  template <class T, class Statistic>
  struct Saved {
    T x;
  };
  static constexpr Saved<Keep, Keep> saved{Keep::input()};
  static void forward(auto& c) {
    auto x = c.x(), y = c.y();
    for (int r = 0; r < x.rows; ++r)
      for (int i = 0; i < W; ++i) y.put(r, i, x(r, i) * x(r, i));
  }
  static void backward(auto& c) {  // it does not ask whether dx is wanted
    auto x = c.saved.x, dy = c.dy(), dx = c.dx();
    for (int r = 0; r < x.rows; ++r)
      for (int i = 0; i < W; ++i) dx.put(r, i, 2 * dy(r, i) * x(r, i));
  }
};
struct Body {
  static constexpr Value<1> trace(auto& g, Value<2> x, Value<1> target) {
    auto y = g("", Linear<2, 1>{}, g("square", Square<2>{}, x));
    return g("loss", MeanSquaredError<1>{}, y, target);
  }
};
struct Squares {
  using slot = slot::model;
  static constexpr void trace(auto& g) {
    auto x = g.template values<2>();
    g.result(g.unit("body", Body{}, x, g.template target_values<1>()));
  }
};

TEST_CASE("a layer may put a gradient that nobody wants") {
  Trainer<Made<Squares, Batch<{.global = 4, .micro = 4}>>> trainer;
  HostBatch batch;
  batch.values = {{1, 2, 3, 4, 5, 6, 7, 8}, {5, 25, 61, 113}};
  batch.starts = {0, 1, 2, 3, 4};
  trainer.set_parameter("body.weight", std::vector<double>{1, 1});
  trainer.set_parameter("body.bias", std::vector<double>{0});
  CHECK(applied(trainer, batch).loss.mean() == 0);  // x² + y² is what it has learnt already
}

template <class... Policies>
NamedNumbers gradients_of_across() {
  Trainer<Made<Around<Alone<AttentionAcrossDropout>>, UpTo<context>, Fp64,
               Batch<{.global = global, .micro = micro}>, Policies...>>
      trainer;
  randomise(trainer, 7);
  applied(trainer, regression_batch(lengths, given_width, target_width, 1));
  NamedNumbers trained;
  for (const Parameter& p : trainer.parameters())
    if (!p.frozen) trained[p.name] = trainer.gradient(p.name);
  return trained;
}
TEST_CASE("CrossAttention has the same gradient of one operand if nobody wants the other's") {
  const NamedNumbers both = gradients_of_across();
  const NamedNumbers of_q = gradients_of_across<Freeze<"b">>();
  const NamedNumbers of_kv = gradients_of_across<Freeze<"a">>();
  CHECK((of_q.contains("a.weight") && !of_q.contains("b.weight")));
  CHECK((of_kv.contains("b.weight") && !of_kv.contains("a.weight")));
  for (const NamedNumbers* some : {&of_q, &of_kv})
    for (const auto& [name, gradient] : *some) {
      CAPTURE(name);
      CHECK(gradient == both.at(name));
    }
}

}  // namespace sinter::detail::testing::unwanted_tests
