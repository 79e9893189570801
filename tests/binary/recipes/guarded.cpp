// SPDX-License-Identifier: Apache-2.0
// A recipe that refuses spikes, and goes back where a step goes wrong.
#include <sinter/sinter.hpp>
using namespace sinter;

struct guarded
    : Recipe<Gpt2<{.layers = 1, .heads = 2, .width = 16, .vocabulary = 256, .positions = 16}>,
             Bytes<{.context = 16}>, AdamW<{.lr = 1e-2}>, CosineDecay<{.warmup = 5, .steps = 40}>,
             Ddp<{.ranks = 1}>, Batch<{.global = 8, .micro = 4}>, SpikeGuard<>, RollBack<>> {};

int main(int argc, char** argv) { return run<guarded>(argc, argv); }
