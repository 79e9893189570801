// SPDX-License-Identifier: Apache-2.0
// Must not compile: Sinter: a member of a layer is missing, or not what it must be
// and: acme::Swish<8>
// and: {"in"}
// and: {"constexpr std::array of 1-4 int"}
#include "support/recipe_of_layer.hpp"
using namespace sinter;

namespace acme {

template <int W>
struct Swish {
  static constexpr int in = W;
  static constexpr int out = W;
  static void forward(auto&) {}
  static void backward(auto&) {}
};

}  // namespace acme

constexpr bool checked = ready<testing::RecipeOfLayer<acme::Swish<8>>>();
