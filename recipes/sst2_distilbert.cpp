// SPDX-License-Identifier: Apache-2.0
// DistilBERT's shape that tells whether a sentence of a film's review is for or against it, as
// SST-2: a sentence, a tab and 0 or 1 a line. From scratch, or from a body that wikitext_distilbert
// or others have trained:
//
//   train --data train.tsv --tokenizer vocab.txt [--weights FOLDER]
#include <sinter/sinter.hpp>
using namespace sinter;

struct sst2_distilbert
    : Recipe<DistilBert<{.positions = 128, .labels = 2}>,
             LabelledText<"2", "1", "", {.context = 128, .vocabulary = 30522, .header = false}>,
             Bf16, AdamW<{.lr = 5e-5, .weight_decay = 0.01}>,
             LinearDecay<{.warmup = 60, .steps = 648}>, Batch<{.global = 32, .micro = 32}>> {};

int main(int argc, char** argv) { return run<sst2_distilbert>(argc, argv); }
