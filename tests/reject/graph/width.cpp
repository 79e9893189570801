// SPDX-License-Identifier: Apache-2.0
// Must not compile: two layers do not fit
// and: Linear<512, 768
// and: 640
#include "sinter/layer/linear.hpp"
#include "sinter/layer/loss.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

namespace acme {

struct Body {
  static constexpr Value<1> trace(auto& g, Value<640> x, Value<768> target) {
    return g("loss", MeanSquaredError<768>{}, g("fc", Linear<512, 768>{}, x), target);
  }
};
struct Model {
  using slot = sinter::slot::model;
  static constexpr void trace(auto& g) {
    auto x = g.template values<640>();
    g.result(g.unit("body", Body{}, x, g.template target_values<768>()));
  }
};

}  // namespace acme

struct mine : Recipe<acme::Model> {};
constexpr bool checked = ready<mine>();
