// SPDX-License-Identifier: Apache-2.0
// A small GPT-2 on the tokens of GPT-2's byte-pair encoding, as for WikiText-2:
//   train --data wiki.train.raw --tokenizer FOLDER_WITH_ENCODER_JSON_AND_VOCAB_BPE
#include <sinter/sinter.hpp>
using namespace sinter;

struct wikitext_gpt2 : Recipe<Gpt2<{.layers = 4,
                                    .heads = 4,
                                    .width = 128,
                                    .vocabulary = 50257,
                                    .positions = 128,
                                    .dropout = 0.1,
                                    .vocabulary_multiple = 64}>,
                              Tokens<{.context = 128, .vocabulary = 50257}>,
                              AdamW<{.lr = 2e-3, .beta2 = 0.99, .weight_decay = 0.1}>,
                              CosineDecay<{.warmup = 50, .steps = 1000, .floor = 0.05}>,
                              Batch<{.global = 8, .micro = 8}>> {};

int main(int argc, char** argv) { return run<wikitext_gpt2>(argc, argv); }
