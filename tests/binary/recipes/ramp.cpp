// SPDX-License-Identifier: Apache-2.0
// A recipe whose batches and sequences grow.
#include <sinter/sinter.hpp>
using namespace sinter;

struct ramp
    : Recipe<Gpt2<{.layers = 2, .heads = 2, .width = 16, .vocabulary = 256, .positions = 16}>,
             Bytes<{.context = 16}>, AdamW<{.lr = 1e-2}>, Batch<{.global = 8, .micro = 2}>,
             BatchWarmup<{.from = 2, .sequences = 60}>,
             LengthWarmup<{.from = 4, .sequences = 100, .multiple = 4}>,
             ScaledRate<{.rule = ScalingRule::root, .base = 8}>, PadRows<>> {};

int main(int argc, char** argv) { return run<ramp>(argc, argv); }
