// SPDX-License-Identifier: Apache-2.0
// A small GPT-2 that reads text as bytes and learns it in two minutes on a CPU.
#include <sinter/sinter.hpp>
using namespace sinter;

struct bytes_gpt2
    : Recipe<Gpt2<{.layers = 4, .heads = 4, .width = 128, .vocabulary = 256, .positions = 128}>,
             Bytes<{.context = 128}>, AdamW<{.lr = 3e-3, .beta2 = 0.99, .weight_decay = 0.1}>,
             CosineDecay<{.warmup = 50, .steps = 3200, .floor = 0.05}>,
             Batch<{.global = 8, .micro = 8}>> {};

int main(int argc, char** argv) { return run<bytes_gpt2>(argc, argv); }
