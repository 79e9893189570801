// SPDX-License-Identifier: Apache-2.0
// A tiny BERT that tells a number of each text.
#include <sinter/sinter.hpp>
using namespace sinter;

struct scores
    : Recipe<Bert<{.layers = 1,
                   .heads = 2,
                   .width = 16,
                   .hidden = 16,
                   .vocabulary = 258,
                   .positions = 24,
                   .labels = 1,
                   .label_kind = LabelKind::numbers}>,
             LabelledText<"score", "text", "",
                          {.context = 24, .classes = 1, .label_kind = LabelKind::numbers}>,
             AdamW<{.lr = 1e-2}>, Constant, Batch<{.global = 16, .micro = 4}>, Metrics<Pearson>> {};

int main(int argc, char** argv) { return run<scores>(argc, argv); }
