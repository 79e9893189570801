// SPDX-License-Identifier: Apache-2.0
// Must not compile: wrong number of inputs for this layer
// and: Linear<4, 8
#include "sinter/layer/linear.hpp"
#include "sinter/layer/loss.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

namespace acme {

struct Body {
  static constexpr Value<1> trace(auto& g, Value<4> x, Value<8> target) {
    return g("loss", MeanSquaredError<8>{}, g("fc", Linear<4, 8>{}, x, x), target);
  }
};
struct Model {
  using slot = sinter::slot::model;
  static constexpr void trace(auto& g) {
    auto x = g.template values<4>();
    g.result(g.unit("body", Body{}, x, g.template target_values<8>()));
  }
};

}  // namespace acme

struct mine : Recipe<acme::Model> {};
constexpr bool checked = ready<mine>();
