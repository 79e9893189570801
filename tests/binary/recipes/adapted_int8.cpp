// SPDX-License-Identifier: Apache-2.0
// The model of small.cpp, with adapters beside weights in int8: the one whose depth fits, mlp.c_proj.
#include <sinter/sinter.hpp>
using namespace sinter;

struct adapted_int8
    : Recipe<Gpt2<{.layers = 2,
                   .heads = 2,
                   .width = 16,
                   .vocabulary = 256,
                   .positions = 16,
                   .dropout = 0.1}>,
             Bytes<{.context = 16}>, AdamW<{.lr = 1e-2}>, CosineDecay<{.warmup = 5, .steps = 40}>,
             Lora<{.rank = 4, .alpha = 8, .dropout = 0.1, .base = LoraBase::int8},
                  Targets<"*.c_attn", "*.c_fc">>,
             Batch<{.global = 8, .micro = 2}>> {};

int main(int argc, char** argv) { return run<adapted_int8>(argc, argv); }
