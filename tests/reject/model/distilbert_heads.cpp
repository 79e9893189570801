// SPDX-License-Identifier: Apache-2.0
// Must not compile: Bert, DistilBert: heads does not divide width
#include "sinter/data/bytes.hpp"
#include "sinter/model/distilbert.hpp"
#include "sinter/objective/masked_lm.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

struct mine : Recipe<DistilBert<{.layers = 1,
                                 .heads = 3,
                                 .width = 16,
                                 .hidden = 16,
                                 .vocabulary = 257,
                                 .positions = 16}>,
                     Bytes<{.context = 16}>, MaskedLm<{.mask = 256}>> {};
constexpr bool checked = ready<mine>();
