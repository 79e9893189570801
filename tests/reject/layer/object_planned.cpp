// SPDX-License-Identifier: Apache-2.0
// Must not compile: Sinter: a member of a layer is missing, or not what it must be
// and: acme::Swish<8>
// and: {"unplanned"}
// and: {"true, as it has object<P>()"}
#include "support/recipe_of_layer.hpp"
using namespace sinter;

namespace acme {

template <int W>
struct Swish {
  static constexpr std::array in{W};
  static constexpr std::array out{W};
  template <class P>
  static std::unique_ptr<LayerObject> object();
};

}  // namespace acme

constexpr bool checked = ready<testing::RecipeOfLayer<acme::Swish<8>>>();
