// SPDX-License-Identifier: Apache-2.0
// A small BERT that tells whether a sentence of a film's review is for or against it, as SST-2: a
// sentence, a tab and 0 or 1 a line.
//
//   train --data train.tsv --tokenizer vocab.txt
#include <sinter/sinter.hpp>
using namespace sinter;

struct sst2_bert
    : Recipe<
          Bert<{
              .layers = 2, .heads = 2, .width = 128, .hidden = 512, .positions = 64, .labels = 2}>,
          LabelledText<"2", "1", "", {.context = 64, .vocabulary = 30522, .header = false}>,
          AdamW<{.lr = 5e-4, .weight_decay = 0.01}>, LinearDecay<{.warmup = 40, .steps = 240}>,
          Batch<{.global = 32, .micro = 32}>> {};

int main(int argc, char** argv) { return run<sst2_bert>(argc, argv); }
