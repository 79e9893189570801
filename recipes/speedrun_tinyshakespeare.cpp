// SPDX-License-Identifier: Apache-2.0
// Learns tinyshakespeare to 1.55 nats a byte, as soon as two cores can: docs/speedrun.md.
#include <sinter/sinter.hpp>
using namespace sinter;

struct speedrun_tinyshakespeare
    : Recipe<Llama<{.layers = 4,
                    .heads = 3,
                    .width = 192,
                    .hidden = 512,
                    .vocabulary = 256,
                    .positions = 256}>,
             Bytes<{.context = 256}>, Muon<{.lr = 2.5e-2, .adamw_lr = 6e-3, .beta2 = .95}>,
             LinearDecay<{.warmup = 20, .steps = 2000}>, Batch<{.global = 8, .micro = 8}>> {};

int main(int argc, char** argv) { return run<speedrun_tinyshakespeare>(argc, argv); }
