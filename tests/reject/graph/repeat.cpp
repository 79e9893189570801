// SPDX-License-Identifier: Apache-2.0
// Must not compile: a repeated unit does not take its own results
// and: Value<16>
// and: Value<8>
#include "sinter/layer/linear.hpp"
#include "sinter/layer/loss.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

namespace acme {

struct Widen {
  static constexpr Value<16> trace(auto& g, Value<8> x) { return g("fc", Linear<8, 16>{}, x); }
};
struct Loss {
  static constexpr Value<1> trace(auto& g, Value<16> x, Value<16> target) {
    return g("loss", MeanSquaredError<16>{}, x, target);
  }
};
struct Model {
  using slot = sinter::slot::model;
  static constexpr void trace(auto& g) {
    auto x = g.repeat(3, "h", Widen{}, g.template values<8>());
    g.result(g.unit("loss", Loss{}, x, g.template target_values<16>()));
  }
};

}  // namespace acme

struct mine : Recipe<acme::Model> {};
constexpr bool checked = ready<mine>();
