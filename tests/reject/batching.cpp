// SPDX-License-Identifier: Apache-2.0
#include "sinter/batching/dynamic_batch.hpp"
#include "sinter/batching/padded.hpp"
#include "sinter/data/bytes.hpp"
#include "sinter/data/dialogue.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

// Must not compile, dynamic_full: DynamicBatch: global is smaller than the buffer
struct mine
    : Recipe<Gpt2<{.layers = 1, .heads = 1, .width = 8, .vocabulary = 258}>,
             Dialogue<{.text = 8, .label = 8}>, DynamicBatch<>, Batch<{.global = 64, .micro = 8}>> {
};

// Must not compile (quick), no_examples: Batching: these data have no examples to put into batches
struct mine : Recipe<Gpt2<{.layers = 1, .heads = 1, .width = 8, .vocabulary = 256}>,
                     Bytes<{.context = 16}>, Padded> {};
