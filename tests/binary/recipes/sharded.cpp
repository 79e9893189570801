// SPDX-License-Identifier: Apache-2.0
// A recipe whose ranks have shards of the optimizer's state.
#include <sinter/sinter.hpp>
using namespace sinter;

struct sharded
    : Recipe<Gpt2<{.layers = 2, .heads = 2, .width = 16, .vocabulary = 256, .positions = 16}>,
             Bytes<{.context = 16}>, AdamW<{.lr = 1e-2}>, CosineDecay<{.warmup = 5, .steps = 40}>,
             ClipNorm<{.max = 1}>, Zero<{.bucket_bytes = 4096, .ranks = 2}>,
             Batch<{.global = 8, .micro = 2}>> {};

int main(int argc, char** argv) { return run<sharded>(argc, argv); }
