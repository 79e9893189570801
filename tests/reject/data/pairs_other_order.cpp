// SPDX-License-Identifier: Apache-2.0
// Must not compile: g.tokens(1), g.tokens(0) and g.targets(0), in this order
#include "sinter/data/dialogue_pairs.hpp"
#include "sinter/recipe/plan.hpp"
#include "sinter/recipe/recipe.hpp"
#include "support/axes_models.hpp"
using namespace sinter;

struct mine : Recipe<sinter::testing::TwoAxes<>, DialoguePairs<{.text = 8, .label = 8}>> {};
constexpr bool checked = ready<mine>();
