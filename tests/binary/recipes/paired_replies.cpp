// SPDX-License-Identifier: Apache-2.0
// A tiny model on two axes that learns to reply, in batches of about the same length.
#include <sinter/sinter.hpp>

#include "support/reply_model.hpp"
using namespace sinter;

struct paired_replies : Recipe<sinter::detail::testing::Replier<258>,
                               DialoguePairs<{.text = 24, .label = 16, .bad = skip}>,
                               DynamicBatch<{.mode = DynamicMode::batchsort, .tokens = 160}>,
                               AdamW<{.lr = 1e-2}>, Constant, Batch<{.global = 16, .micro = 4}>> {};

int main(int argc, char** argv) { return run<paired_replies>(argc, argv); }
