// SPDX-License-Identifier: Apache-2.0
// A tiny BERT that tells which of two classes a text is of, by the words of a tokenizer that is
// named when it runs.
#include <sinter/sinter.hpp>
using namespace sinter;

struct reviews : Recipe<Bert<{.layers = 1,
                              .heads = 2,
                              .width = 16,
                              .hidden = 16,
                              .vocabulary = 300,
                              .positions = 24,
                              .labels = 2}>,
                        LabelledText<"label", "sentence", "", {.context = 24, .vocabulary = 300}>,
                        AdamW<{.lr = 1e-2}>, Constant, Batch<{.global = 16, .micro = 4}>,
                        Metrics<Accuracy, F1<>, Matthews>> {};

int main(int argc, char** argv) { return run<reviews>(argc, argv); }
