// SPDX-License-Identifier: Apache-2.0
// A tiny BERT that guesses hidden words.
#include <sinter/sinter.hpp>
using namespace sinter;

struct hidden : Recipe<Bert<{.layers = 1,
                             .heads = 2,
                             .width = 16,
                             .hidden = 16,
                             .vocabulary = 16,
                             .positions = 8}>,
                       Tokens<{.context = 8, .vocabulary = 16}>, MaskedLm<>, AdamW<{.lr = 1e-2}>,
                       Constant, Batch<{.global = 4, .micro = 4}>> {};

int main(int argc, char** argv) { return run<hidden>(argc, argv); }
