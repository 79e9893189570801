// SPDX-License-Identifier: Apache-2.0
// A recipe in which one rank updates for all.
#include <sinter/sinter.hpp>
using namespace sinter;

struct at_root
    : Recipe<Gpt2<{.layers = 2, .heads = 2, .width = 16, .vocabulary = 256, .positions = 16}>,
             Bytes<{.context = 16}>, Bf16, AdamW<{.lr = 1e-2}>,
             CosineDecay<{.warmup = 5, .steps = 40}>, ClipNorm<{.max = 1}>, Average<>,
             SplitBatch<{.ranks = 2}>, Batch<{.global = 8, .micro = 2}>> {};

int main(int argc, char** argv) { return run<at_root>(argc, argv); }
