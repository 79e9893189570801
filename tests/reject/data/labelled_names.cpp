// SPDX-License-Identifier: Apache-2.0
// Must not compile: LabelledText: the name of the label or of the first text is empty
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
                           .labels = 2}>,
                     LabelledText<"label", "", "b", {.context = 16}>> {};
constexpr bool checked = ready<mine>();
