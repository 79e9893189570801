// SPDX-License-Identifier: Apache-2.0
// Must not compile: PadRows: a layer of this model computes outside of Sinter
#include "sinter/batch/pad_rows.hpp"
#include "sinter/layer/linear.hpp"
#include "sinter/layer/loss.hpp"
#include "sinter/recipe/plan.hpp"
#include "support/unplanned_layer.hpp"
using namespace sinter;

struct Body {
  static constexpr Value<1> trace(auto& g, Value<8> x, Ids classes) {
    auto y = g("square", testing::Square<8>{}, g("fc", Linear<8, 8>{}, x));
    return g("loss", CrossEntropy<8>{}, y, classes);
  }
};
struct Squares {
  using slot = sinter::slot::model;
  static constexpr void trace(auto& g) {
    auto x = g.template values<8>();
    g.result(g.unit("body", Body{}, x, g.targets()));
  }
};
struct mine : Recipe<Squares, PadRows<{.multiple = 1}>> {};
constexpr bool checked = ready<mine>();
