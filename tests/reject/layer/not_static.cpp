// SPDX-License-Identifier: Apache-2.0
// Must not compile: Sinter: a member of a layer is missing, or not what it must be
// and: acme::Swish<8>
// and: {"data"}
// and: {"none; all members are static"}
#include "sinter/layer/loss.hpp"
#include "sinter/plan/plan.hpp"
using namespace sinter;

namespace acme {

template <int W>
struct Swish {
  std::array<int, 1> in{W};
  static constexpr std::array out{W};
  static void forward(auto&) {}
  static void backward(auto&) {}
};
struct Body {
  static constexpr Value<1> trace(auto& g, Value<8> x, Value<8> target) {
    return g("loss", MeanSquaredError<8>{}, g("act", Swish<8>{}, x), target);
  }
};
struct Model {
  using slot = sinter::slot::model;
  static constexpr void trace(auto& g) {
    auto x = g.template values<8>();
    g.result(g.unit("body", Body{}, x, g.template target_values<8>()));
  }
};

}  // namespace acme

struct mine : Recipe<acme::Model> {};
constexpr bool checked = ready<mine>();
