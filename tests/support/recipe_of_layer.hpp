// SPDX-License-Identifier: Apache-2.0
// A recipe whose model is a linear layer, the layer in question, both 8 wide, and a loss.
#pragma once
#include "sinter/layer/linear.hpp"
#include "sinter/layer/loss.hpp"
#include "sinter/recipe/plan.hpp"

namespace sinter::detail::testing {

template <class Layer>
struct BodyOfLayer {
  static constexpr Value<1> trace(auto& g, Value<8> x, Value<8> target) {
    auto y = g("act", Layer{}, g("fc", Linear<8, 8>{}, x));
    return g("loss", MeanSquaredError<8>{}, y, target);
  }
};

template <class Layer>
struct ModelOfLayer {
  using slot = slot::model;
  static constexpr void trace(auto& g) {
    auto x = g.template values<8>();
    g.result(g.unit("body", BodyOfLayer<Layer>{}, x, g.template target_values<8>()));
  }
};

template <class Layer>
struct RecipeOfLayer : Recipe<ModelOfLayer<Layer>> {};

}  // namespace sinter::detail::testing
