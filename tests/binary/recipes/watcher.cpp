// SPDX-License-Identifier: Apache-2.0
// A recipe whose schedule acts on validation losses, whose optimizer makes its own rate, and whose
// evaluations count tokens.
#include <sinter/sinter.hpp>
using namespace sinter;

struct watcher
    : Recipe<Gpt2<{.layers = 1, .heads = 2, .width = 16, .vocabulary = 256, .positions = 16}>,
             Bytes<{.context = 16}>, Adafactor<{.relative_step = true}>,
             Plateau<{.patience = 0, .threshold = .9}>, ScaledRate<{.base = 4}>,
             LabelSmoothing<{.factor = 0}>, Metrics<TokenAccuracy>,
             Batch<{.global = 8, .micro = 8}>> {};

int main(int argc, char** argv) { return run<watcher>(argc, argv); }
