// SPDX-License-Identifier: Apache-2.0
// A small GPT-2 that learns to reply: dialogues as JSON lines, of which the replies are predicted.
// Tokens are bytes. To take those of GPT-2, give Gpt2 and Dialogue .vocabulary = 50257, and train
// with --tokenizer FOLDER, where FOLDER has encoder.json and vocab.bpe (docs/data.md).
#include <sinter/sinter.hpp>
using namespace sinter;

struct dialogue_gpt2
    : Recipe<Gpt2<{.layers = 4, .heads = 4, .width = 128, .vocabulary = 258, .positions = 512}>,
             Dialogue<{.text = 256, .label = 256, .history = 2}>,
             AdamW<{.lr = 2e-3, .beta2 = 0.99, .weight_decay = 0.1}>,
             CosineDecay<{.warmup = 50, .steps = 3000, .floor = 0.05}>,
             Batch<{.global = 64, .micro = 16}>> {};

int main(int argc, char** argv) { return run<dialogue_gpt2>(argc, argv); }
