// SPDX-License-Identifier: Apache-2.0
// A tiny BART that learns to reply.
#include <sinter/sinter.hpp>
using namespace sinter;

struct bart : Recipe<Seq2Seq<{.encoder_layers = 1,
                              .decoder_layers = 1,
                              .heads = 2,
                              .width = 16,
                              .hidden = 24,
                              .vocabulary = 32,
                              .positions = 16,
                              .position_offset = 2,
                              .encoder_norm = EmbeddingNorm::after_positions,
                              .decoder_norm = EmbeddingNorm::after_positions,
                              .dropout = 0,
                              .start = 2,
                              .end = 2,
                              .pad = 1}>,
                     DialoguePairs<{.text = 16, .label = 16, .vocabulary = 32, .start = 2}>,
                     AdamW<{.lr = 1e-2}>, Constant, Batch<{.global = 4, .micro = 4}>> {};

int main(int argc, char** argv) { return run<bart>(argc, argv); }
