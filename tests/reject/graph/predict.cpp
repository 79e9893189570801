// SPDX-License-Identifier: Apache-2.0
// Must not compile: the units of this recipe's model are joined wrongly
// and: predict() changes the parameters
#include "sinter/layer/linear.hpp"
#include "sinter/layer/loss.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

namespace acme {

template <int Out>
struct Project {
  static constexpr Value<Out> trace(auto& g, Value<8> x) { return g("fc", Linear<8, Out>{}, x); }
};
struct Loss {
  static constexpr Value<1> trace(auto& g, Value<8> x, Value<8> target) {
    return g("loss", MeanSquaredError<8>{}, x, target);
  }
};
struct Model {
  using slot = sinter::slot::model;
  static constexpr void trace(auto& g) {
    auto x = g.unit("first", Project<8>{}, g.template values<8>());
    g.result(g.unit("loss", Loss{}, x, g.template target_values<8>()));
  }
  static constexpr void predict(auto& g) {
    g.result(g.unit("first", Project<9>{}, g.template values<8>()));
  }
};

}  // namespace acme

struct mine : Recipe<acme::Model> {};
constexpr bool checked = ready<mine>();
