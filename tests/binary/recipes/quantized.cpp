// SPDX-License-Identifier: Apache-2.0
// A model of bytes whose Generator stores its weights in int8.
#include <sinter/sinter.hpp>
using namespace sinter;

struct quantized
    : Recipe<Gpt2<{.layers = 2, .heads = 2, .width = 32, .vocabulary = 256, .positions = 32}>,
             Bytes<{.context = 32}>, AdamW<{.lr = 1e-2}>, Constant,
             Batch<{.global = 8, .micro = 8}>, Quantize<>> {};

int main(int argc, char** argv) { return run<quantized>(argc, argv); }
