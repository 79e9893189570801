// SPDX-License-Identifier: Apache-2.0
// Must not compile: Sinter: a member of a layer is missing, or not what it must be
// and: acme::Mean<8>
// and: {"passes_gradient"}
// and: {"operands as wide as its result"}
#include "support/recipe_of_layer.hpp"
using namespace sinter;

namespace acme {

template <int W>
struct Mean {
  static constexpr std::array in{W};
  static constexpr std::array out{W};
  static constexpr bool pools = true;
  static constexpr bool passes_gradient = true;
  static void forward(auto&) {}
  static void backward(auto&) {}
};

}  // namespace acme

constexpr bool checked = ready<testing::RecipeOfLayer<acme::Mean<8>>>();
