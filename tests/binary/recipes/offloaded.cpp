// SPDX-License-Identifier: Apache-2.0
// A recipe whose master weights and state are on disk.
#include <sinter/sinter.hpp>
using namespace sinter;

struct offloaded
    : Recipe<Gpt2<{.layers = 2, .heads = 2, .width = 16, .vocabulary = 256, .positions = 16}>,
             Bytes<{.context = 16}>, AdamW<{.lr = 1e-2}>, CosineDecay<{.warmup = 5, .steps = 40}>,
             Batch<{.global = 8, .micro = 2}>, Checkpoint<>, Ddp<{.ranks = 1}>,
             Offload<{.weights = true, .bucket_bytes = 1}>> {};

int main(int argc, char** argv) { return run<offloaded>(argc, argv); }
