// SPDX-License-Identifier: Apache-2.0
// A tiny BERT that tells two classes of texts apart by adapters and a head of their own.
#include <sinter/sinter.hpp>
using namespace sinter;

struct adapted_labels
    : Recipe<Bert<{.layers = 1,
                   .heads = 2,
                   .width = 16,
                   .hidden = 16,
                   .vocabulary = 258,
                   .positions = 24,
                   .labels = 2}>,
             LabelledText<"label", "text", "", {.context = 24}, "bad, good">, AdamW<{.lr = 1e-2}>,
             Constant,
             Lora<{.rank = 4}, Targets<"*.query", "*.value">, ModulesToSave<"classifier">>,
             Batch<{.global = 16, .micro = 4}>> {};

int main(int argc, char** argv) { return run<adapted_labels>(argc, argv); }
