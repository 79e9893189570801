// SPDX-License-Identifier: Apache-2.0
// Must not compile: a unit does not take the values joined to it
// and: acme::Second
// and: Value<16>
#include "sinter/layer/linear.hpp"
#include "sinter/layer/loss.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

namespace acme {

struct First {
  static constexpr Value<16> trace(auto& g, Value<4> x) { return g("fc", Linear<4, 16>{}, x); }
};
struct Second {
  static constexpr Value<8> trace(auto& g, Value<32> x) { return g("fc", Linear<32, 8>{}, x); }
};
struct Loss {
  static constexpr Value<1> trace(auto& g, Value<8> x, Value<8> target) {
    return g("loss", MeanSquaredError<8>{}, x, target);
  }
};
struct Model {
  using slot = sinter::slot::model;
  static constexpr void trace(auto& g) {
    auto x = g.unit("first", First{}, g.template values<4>());
    auto y = g.unit("second", Second{}, x);
    g.result(g.unit("loss", Loss{}, y, g.template target_values<8>()));
  }
};

}  // namespace acme

struct mine : Recipe<acme::Model> {};
constexpr bool checked = ready<mine>();
