// SPDX-License-Identifier: Apache-2.0
// Must not compile: The model has an input on axis 1, and these data have one sequence at a time
#include "sinter/data/dialogue.hpp"
#include "sinter/recipe/plan.hpp"
#include "sinter/recipe/recipe.hpp"
#include "support/reply_model.hpp"
using namespace sinter;

struct mine : Recipe<sinter::testing::Replier<258>, Dialogue<{.text = 8, .label = 8}>> {};
constexpr bool checked = ready<mine>();
