// SPDX-License-Identifier: Apache-2.0
// The recipe. Slots left out have defaults; BINARY describe prints all of them, and the memory.
#include "model.hpp"

struct small_reader
    : sinter::Recipe<my_project::Reader<{.layers = 2, .heads = 4, .width = 64, .positions = 64}>,
                     sinter::Bytes<{.context = 64}>, sinter::AdamW<{.lr = 2e-3}>,
                     sinter::CosineDecay<{.warmup = 20, .steps = 500}>,
                     sinter::Batch<{.global = 16, .micro = 16}>> {};

int main(int argc, char** argv) { return sinter::run<small_reader>(argc, argv); }
