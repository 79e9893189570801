// SPDX-License-Identifier: Apache-2.0
// An encoder-decoder that learns to reply: dialogues as JSON lines, of which the encoder reads what
// was said and the decoder learns the reply. Its shape is that of ParlAI's transformer/generator, made
// small. Tokens are bytes; with --tokenizer FOLDER they are others, where Seq2Seq and DialoguePairs
// have its .vocabulary (docs/data.md).
#include <sinter/sinter.hpp>
using namespace sinter;

struct dialogue_seq2seq : Recipe<Seq2Seq<{.encoder_layers = 2,
                                          .decoder_layers = 2,
                                          .heads = 2,
                                          .width = 128,
                                          .hidden = 512,
                                          .vocabulary = 258,
                                          .positions = 256,
                                          .position = Positions::sinusoidal,
                                          .activation = Activation::relu,
                                          .scale_embedding = true,
                                          .dropout = 0.0,
                                          .start = 256,
                                          .end = 257}>,
                                 DialoguePairs<{.text = 256, .label = 256, .history = 2}>,
                                 AdamW<{.lr = 2e-3, .beta2 = 0.99, .weight_decay = 0.1}>,
                                 CosineDecay<{.warmup = 50, .steps = 3000, .floor = 0.05}>,
                                 Batch<{.global = 64, .micro = 16}>> {};

int main(int argc, char** argv) { return run<dialogue_seq2seq>(argc, argv); }
