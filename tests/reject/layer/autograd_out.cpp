// SPDX-License-Identifier: Apache-2.0
// Must not compile: Sinter: a member of a layer is missing, or not what it must be
// and: Autograd<acme::Halved>
// and: {"out"}
// and: {"constexpr std::array of 1-3 int"}
#include "sinter/layer/autograd.hpp"
#include "support/recipe_of_layer.hpp"
using namespace sinter;

namespace acme {

struct Halved {
  static constexpr std::array in{8};
  static std::unique_ptr<LayerObject> make(const AutogradSpec&);
};

}  // namespace acme

constexpr bool checked = ready<testing::RecipeOfLayer<Autograd<acme::Halved>>>();
