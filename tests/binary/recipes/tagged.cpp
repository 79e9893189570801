// SPDX-License-Identifier: Apache-2.0
// A tiny BERT that tells which of three classes each word is of.
#include <sinter/sinter.hpp>
using namespace sinter;

struct tagged
    : Recipe<Bert<{.layers = 1,
                   .heads = 2,
                   .width = 16,
                   .hidden = 16,
                   .vocabulary = 300,
                   .positions = 32,
                   .pairs = true,
                   .labels = 3,
                   .label_kind = LabelKind::class_of_token}>,
             LabelledWords<"tags", "tokens",
                           {.context = 32, .vocabulary = 300, .classes = 3, .types = true},
                           "O, NAME, PLACE">,
             AdamW<{.lr = 1e-2}>, Constant, Batch<{.global = 16, .micro = 4}>> {};

int main(int argc, char** argv) { return run<tagged>(argc, argv); }
