// SPDX-License-Identifier: Apache-2.0
// Must not compile: DynamicBatch: global is smaller than the buffer
#include "sinter/batching/dynamic_batch.hpp"
#include "sinter/data/dialogue.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

struct mine
    : Recipe<Gpt2<{.layers = 1, .heads = 1, .width = 8, .vocabulary = 258}>,
             Dialogue<{.text = 8, .label = 8}>, DynamicBatch<>, Batch<{.global = 64, .micro = 8}>> {
};
constexpr bool checked = ready<mine>();
