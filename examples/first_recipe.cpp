// SPDX-License-Identifier: Apache-2.0
// A small GPT over bytes: a trainer binary in fifteen lines.
#include <sinter/sinter.hpp>
using namespace sinter;

struct small_gpt
    : Recipe<Gpt2<{.layers = 2, .heads = 4, .width = 64, .vocabulary = 256, .positions = 64}>,
             Bytes<{.context = 64}>, AdamW<{.lr = 2e-3, .weight_decay = 0.1}>,
             CosineDecay<{.warmup = 20, .steps = 200}>, Batch<{.global = 16, .micro = 8}>,
             Checkpoint<{.policy = selective}>> {};

static_assert(Plan<small_gpt>::parameters == 120576);
static_assert(Plan<small_gpt>::bytes < 8 << 20, "the whole step fits in 8 MiB");

int main(int argc, char** argv) { return run<small_gpt>(argc, argv); }
