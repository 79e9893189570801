// SPDX-License-Identifier: Apache-2.0
// The recipe whose binary the tests run: as small as shows everything, dropout, accumulation and
// ranks included.
#include <sinter/sinter.hpp>
using namespace sinter;

struct small
    : Recipe<Gpt2<{.layers = 2,
                   .heads = 2,
                   .width = 16,
                   .vocabulary = 256,
                   .positions = 16,
                   .dropout = 0.1}>,
             Bytes<{.context = 16}>, AdamW<{.lr = 1e-2}>, CosineDecay<{.warmup = 5, .steps = 40}>,
             Ddp<{.bucket_bytes = 4096, .ranks = 1}>, Batch<{.global = 8, .micro = 2}>> {};

int main(int argc, char** argv) { return run<small>(argc, argv); }
