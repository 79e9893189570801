// SPDX-License-Identifier: Apache-2.0
// A tiny BERT that tells which of three classes a pair of texts is of.
#include <sinter/sinter.hpp>
using namespace sinter;

struct pairs
    : Recipe<Bert<{.layers = 1,
                   .heads = 2,
                   .width = 16,
                   .hidden = 16,
                   .vocabulary = 258,
                   .positions = 24,
                   .pairs = true,
                   .labels = 3}>,
             LabelledText<"label", "first", "second", {.context = 24, .classes = 3, .types = true}>,
             AdamW<{.lr = 1e-2}>, Constant, Batch<{.global = 16, .micro = 4}>> {};

int main(int argc, char** argv) { return run<pairs>(argc, argv); }
