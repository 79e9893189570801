// SPDX-License-Identifier: Apache-2.0
// A tiny GPT-2 that learns the assistant's part of conversations, and whose evaluations write some.
#include <sinter/sinter.hpp>
using namespace sinter;

struct chats
    : Recipe<Gpt2<{.layers = 1, .heads = 2, .width = 32, .vocabulary = 258, .positions = 64}>,
             Chat<PlainChat, {.context = 64, .bad = skip}>, AdamW<{.lr = 1e-2}>, Constant,
             Batch<{.global = 8, .micro = 4}>, Metrics<TokenAccuracy, ExactMatch<>>, Evaluate<>> {};

int main(int argc, char** argv) { return run<chats>(argc, argv); }
