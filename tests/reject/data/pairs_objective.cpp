// SPDX-License-Identifier: Apache-2.0
// Must not compile: DialoguePairs: an objective with replies
#include "sinter/data/dialogue_pairs.hpp"
#include "sinter/objective/masked_lm.hpp"
#include "sinter/recipe/plan.hpp"
#include "sinter/recipe/recipe.hpp"
#include "support/reply_model.hpp"
using namespace sinter;

struct mine
    : Recipe<sinter::testing::Replier<258>, DialoguePairs<{.text = 8, .label = 8}>, MaskedLm<>> {};
constexpr bool checked = ready<mine>();
