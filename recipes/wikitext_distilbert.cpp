// SPDX-License-Identifier: Apache-2.0
// DistilBERT's shape that learns hidden tokens of text, as BERT (Devlin et al. 2019): a body for
// recipes/sst2_distilbert.cpp. For WikiText-2:
//
//   train --data wiki.train.raw --tokenizer vocab.txt
#include <sinter/sinter.hpp>
using namespace sinter;

struct wikitext_distilbert
    : Recipe<DistilBert<{.positions = 128}>, Tokens<{.context = 128, .vocabulary = 30522}>,
             MaskedLm<>, Bf16, AdamW<{.lr = 2e-4, .weight_decay = 0.01}>,
             LinearDecay<{.warmup = 50, .steps = 400}>, Batch<{.global = 32, .micro = 32}>> {};

int main(int argc, char** argv) { return run<wikitext_distilbert>(argc, argv); }
