// SPDX-License-Identifier: Apache-2.0
// Must not compile: Budget: a layer of this model takes memory that is not planned
#include "sinter/layer/linear.hpp"
#include "sinter/layer/loss.hpp"
#include "sinter/memory/budget.hpp"
#include "sinter/recipe/plan.hpp"
#include "support/unplanned_layer.hpp"
using namespace sinter;

struct Body {
  static constexpr Value<1> trace(auto& g, Value<8> x, Value<8> target) {
    auto y = g("square", testing::Square<8>{}, g("fc", Linear<8, 8>{}, x));
    return g("loss", MeanSquaredError<8>{}, y, target);
  }
};
struct Squares {
  using slot = sinter::slot::model;
  static constexpr void trace(auto& g) {
    auto x = g.template values<8>();
    g.result(g.unit("body", Body{}, x, g.template target_values<8>()));
  }
};
struct mine : Recipe<Squares, Budget<{.bytes = 1 << 30}>> {};
constexpr bool checked = ready<mine>();
