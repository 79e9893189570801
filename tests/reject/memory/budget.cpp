// SPDX-License-Identifier: Apache-2.0
// Must not compile: Budget: nothing fits. What: the least that this recipe needs
#include "sinter/memory/budget.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/recipe/plan.hpp"
#include "sinter/recipe/recipe.hpp"
using namespace sinter;

struct mine : Recipe<Mlp<>, Budget<{.bytes = 1000}>> {};
constexpr bool checked = ready<mine>();
