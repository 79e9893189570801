// SPDX-License-Identifier: Apache-2.0
// Must not compile: Bert, DistilBert: the model's vocabulary is smaller than the data's
#include "sinter/data/bytes.hpp"
#include "sinter/model/bert.hpp"
#include "sinter/objective/masked_lm.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

struct mine : Recipe<Bert<{.layers = 1,
                           .heads = 2,
                           .width = 16,
                           .hidden = 16,
                           .vocabulary = 100,
                           .positions = 16}>,
                     Bytes<{.context = 16}>, MaskedLm<{.mask = 99}>> {};
constexpr bool checked = ready<mine>();
