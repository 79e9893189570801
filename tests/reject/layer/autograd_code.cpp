// SPDX-License-Identifier: Apache-2.0
// Must not compile: Autograd: F does not say where its code is
#include "sinter/layer/autograd.hpp"
#include "sinter/recipe/recipe.hpp"
#include "support/recipe_of_layer.hpp"
using namespace sinter;

struct Unwritten {
  static constexpr std::array in{8};
  static constexpr std::array out{8};
  static constexpr std::array params{vector("bias", 8, zeros)};
};
struct mine : Recipe<testing::ModelOfLayer<Autograd<Unwritten>>> {};
constexpr bool checked = ready<mine>();
