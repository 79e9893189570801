// SPDX-License-Identifier: Apache-2.0
// Must not compile: Bert, DistilBert: the batching pads sequences
#include "sinter/batching/padded.hpp"
#include "sinter/data/columns.hpp"
#include "sinter/model/bert.hpp"
#include "sinter/objective/masked_lm.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

struct mine : Recipe<Bert<{.layers = 1,
                           .heads = 2,
                           .width = 16,
                           .hidden = 16,
                           .vocabulary = 258,
                           .positions = 16}>,
                     Columns<"1", "2", {.text = 8, .label = 8}>, Padded, MaskedLm<{.mask = 257}>> {
};
constexpr bool checked = ready<mine>();
