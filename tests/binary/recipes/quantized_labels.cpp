// SPDX-License-Identifier: Apache-2.0
// A tiny BERT that tells two classes of texts apart, and predicts with weights in int8.
#include <sinter/sinter.hpp>
using namespace sinter;

struct quantized_labels
    : Recipe<Bert<{.layers = 1,
                   .heads = 2,
                   .width = 32,
                   .hidden = 64,
                   .vocabulary = 258,
                   .positions = 24,
                   .labels = 2}>,
             LabelledText<"label", "text", "", {.context = 24}, "bad, good">, AdamW<{.lr = 1e-2}>,
             Constant, Batch<{.global = 16, .micro = 4}>, Quantize<>> {};

int main(int argc, char** argv) { return run<quantized_labels>(argc, argv); }
