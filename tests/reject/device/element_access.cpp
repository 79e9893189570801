// SPDX-License-Identifier: Apache-2.0
// Must not compile: Sinter: a layer reads or writes single elements, and the recipe's device is not the host
#include "sinter/device/cuda.hpp"
#include "sinter/layer/linear.hpp"
#include "sinter/layer/loss.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

namespace acme {
template <int W>
struct Doubled {
  static constexpr std::array in{W};
  static constexpr std::array out{W};
  static void forward(auto& c) {
    auto x = c.x(), y = c.y();
    for (int r = 0; r < x.rows; ++r)
      for (int k = 0; k < W; ++k) y.put(r, k, 2 * x(r, k));
  }
  static void backward(auto& c) {
    auto dy = c.dy(), dx = c.dx();
    for (int r = 0; r < dy.rows; ++r)
      for (int k = 0; k < W; ++k) dx.put(r, k, 2 * dy(r, k));
  }
};
struct Body {
  static constexpr Value<1> trace(auto& g, Value<8> x, Value<8> target) {
    auto y = g("doubled", Doubled<8>{}, g("fc", Linear<8, 8>{}, x));
    return g("loss", MeanSquaredError<8>{}, y, target);
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

struct mine : Recipe<acme::Model, Cuda<>> {};
constexpr bool checked = ready<mine>();
