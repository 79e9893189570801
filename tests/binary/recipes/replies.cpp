// SPDX-License-Identifier: Apache-2.0
// A tiny GPT-2 that learns to reply, in batches of about the same length.
#include <sinter/sinter.hpp>
using namespace sinter;

struct replies
    : Recipe<Gpt2<{.layers = 1, .heads = 2, .width = 8, .vocabulary = 258, .positions = 32}>,
             Dialogue<{.text = 16, .label = 16, .bad = skip}>,
             DynamicBatch<{.mode = DynamicMode::batchsort, .tokens = 160}>, AdamW<{.lr = 1e-2}>,
             Constant, Batch<{.global = 16, .micro = 4}>> {};

int main(int argc, char** argv) { return run<replies>(argc, argv); }
