// SPDX-License-Identifier: Apache-2.0
// Must not compile: DialoguePairs: .start is not in the vocabulary
#include "sinter/data/dialogue_pairs.hpp"
#include "sinter/recipe/plan.hpp"
#include "sinter/recipe/recipe.hpp"
#include "support/reply_model.hpp"
using namespace sinter;

struct mine : Recipe<sinter::testing::Replier<258>, DialoguePairs<{.start = 258}>> {};
constexpr bool checked = ready<mine>();
