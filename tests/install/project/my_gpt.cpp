// SPDX-License-Identifier: Apache-2.0
#include <sinter/sinter.hpp>

struct my_gpt
    : sinter::Recipe<
          sinter::Gpt2<{.layers = 2, .heads = 2, .width = 32, .vocabulary = 256, .positions = 32}>,
          sinter::Bytes<{.context = 32}>> {};

int main(int argc, char** argv) { return sinter::run<my_gpt>(argc, argv); }
