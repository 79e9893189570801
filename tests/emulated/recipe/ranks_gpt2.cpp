// SPDX-License-Identifier: Apache-2.0
// The default recipe at a tiny size, over ranks.
#include <sinter/sinter.hpp>
using namespace sinter;

struct ranks_gpt2
    : Recipe<Gpt2<{.layers = 2, .heads = 2, .width = 16, .vocabulary = 256, .positions = 16}>,
             Bytes<{.context = 16}>, AdamW<{.lr = 3e-3, .beta2 = 0.99, .weight_decay = 0.1}>,
             CosineDecay<{.warmup = 5, .steps = 3200, .floor = 0.05}>, Ddp<>,
             Batch<{.global = 8, .micro = 2}>> {};

int main(int argc, char** argv) { return run<ranks_gpt2>(argc, argv); }
