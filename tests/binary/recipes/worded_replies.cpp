// SPDX-License-Identifier: Apache-2.0
// A tiny GPT-2 that learns to reply in the tokens of a tokenizer that is named when it runs.
#include <sinter/sinter.hpp>
using namespace sinter;

struct worded_replies
    : Recipe<Gpt2<{.layers = 1, .heads = 2, .width = 32, .vocabulary = 403, .positions = 48}>,
             Dialogue<{.text = 24, .label = 24, .vocabulary = 403}>, AdamW<{.lr = 1e-2}>, Constant,
             Batch<{.global = 16, .micro = 16}>> {};

int main(int argc, char** argv) { return run<worded_replies>(argc, argv); }
