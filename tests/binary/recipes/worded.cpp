// SPDX-License-Identifier: Apache-2.0
// A small model of the tokens of a tokenizer that is named when it runs.
#include <sinter/sinter.hpp>
using namespace sinter;

struct worded
    : Recipe<Gpt2<{.layers = 1, .heads = 1, .width = 16, .vocabulary = 512, .positions = 16}>,
             Tokens<{.context = 16, .vocabulary = 512}>, AdamW<{.lr = 1e-2}>,
             Batch<{.global = 4, .micro = 4}>> {};

int main(int argc, char** argv) { return run<worded>(argc, argv); }
