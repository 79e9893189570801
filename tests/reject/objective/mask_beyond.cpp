// SPDX-License-Identifier: Apache-2.0
// Must not compile: MaskedLm: the mask is not in the model's vocabulary
#include "sinter/data/bytes.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/objective/masked_lm.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

struct mine : Recipe<Gpt2<{.layers = 1, .heads = 1, .width = 8, .vocabulary = 256}>,
                     Bytes<{.context = 16}>, MaskedLm<{.mask = 256}>> {};
constexpr bool checked = ready<mine>();
