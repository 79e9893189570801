// SPDX-License-Identifier: Apache-2.0
// Must not compile: Bert, DistilBert: the data's context is beyond the model's positions
#include "sinter/data/bytes.hpp"
#include "sinter/model/bert.hpp"
#include "sinter/objective/masked_lm.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

struct mine : Recipe<Bert<{.layers = 1,
                           .heads = 2,
                           .width = 16,
                           .hidden = 16,
                           .vocabulary = 257,
                           .positions = 16}>,
                     Bytes<{.context = 17}>, MaskedLm<{.mask = 256}>> {};
constexpr bool checked = ready<mine>();
