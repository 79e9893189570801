// SPDX-License-Identifier: Apache-2.0
// Must not compile: LabelledText: the model has fewer types of tokens than a pair
#include "sinter/data/labelled_text.hpp"
#include "sinter/model/bert.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

struct mine : Recipe<Bert<{.layers = 1,
                           .heads = 2,
                           .width = 16,
                           .hidden = 16,
                           .vocabulary = 258,
                           .positions = 16,
                           .types = 1,
                           .pairs = true,
                           .labels = 2}>,
                     LabelledText<"label", "a", "b", {.context = 16, .types = true}>> {};
constexpr bool checked = ready<mine>();
