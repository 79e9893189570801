// SPDX-License-Identifier: Apache-2.0
// Must not compile: LabelledText: the model has fewer classes than the data
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
                     LabelledText<"label", "a", "", {.context = 16, .classes = 3}>> {};
constexpr bool checked = ready<mine>();
