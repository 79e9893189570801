// SPDX-License-Identifier: Apache-2.0
// GPT-2 124M, half a million tokens a step: a plan that is checked when it compiles.
#include <sinter/sinter.hpp>
using namespace sinter;

struct gpt2_124m : Recipe<Gpt2<{.layers = 12, .heads = 12, .width = 768}>, Bytes<{.context = 1024}>,
                          Checkpoint<{.policy = selective}>,
                          AdamW<{.lr = 6e-4, .beta2 = 0.95, .weight_decay = 0.1}>,
                          CosineDecay<{.warmup = 700, .steps = 19073, .floor = 0.1}>,
                          Batch<{.global = 512, .micro = 8}>> {};

using plan = Plan<gpt2_124m>;
static_assert(plan::parameters == 124'439'808);
static_assert(plan::flops_per_token == 6 * 123'532'032 + 6 * 12 * 768 * 1024);
static_assert(plan::bytes < 80LL << 30, "fits on one GPU of 80 GiB");

int main(int argc, char** argv) { return run<gpt2_124m>(argc, argv); }
