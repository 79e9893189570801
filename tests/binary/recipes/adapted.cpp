// SPDX-License-Identifier: Apache-2.0
// The model of small.cpp, with adapters.
#include <sinter/sinter.hpp>
using namespace sinter;

struct adapted
    : Recipe<Gpt2<{.layers = 2,
                   .heads = 2,
                   .width = 16,
                   .vocabulary = 256,
                   .positions = 16,
                   .dropout = 0.1}>,
             Bytes<{.context = 16}>, AdamW<{.lr = 1e-2}>, CosineDecay<{.warmup = 5, .steps = 40}>,
             Lora<{.rank = 4, .alpha = 8, .dropout = 0.1}, Targets<"*.c_attn", "*.c_fc">>,
             Batch<{.global = 8, .micro = 2}>> {};

int main(int argc, char** argv) { return run<adapted>(argc, argv); }
