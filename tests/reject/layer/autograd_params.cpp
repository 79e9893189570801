// SPDX-License-Identifier: Apache-2.0
// Must not compile: Sinter: a member of a layer is missing, or not what it must be
// and: Autograd<acme::Shifted>
// and: {"params"}
// and: {"constexpr Params<Param> or array"}
#include "sinter/layer/autograd.hpp"
#include "support/recipe_of_layer.hpp"
using namespace sinter;

namespace acme {

struct Shifted {
  static constexpr std::array in{8};
  static constexpr std::array out{8};
  static constexpr Param params = vector("bias", 8, zeros);
  static std::unique_ptr<LayerObject> make(const AutogradSpec&);
};

}  // namespace acme

constexpr bool checked = ready<testing::RecipeOfLayer<Autograd<acme::Shifted>>>();
