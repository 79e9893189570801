// SPDX-License-Identifier: Apache-2.0
// A recipe whose data is no text, with a schedule without horizon.
#include <sinter/sinter.hpp>
using namespace sinter;

struct rows : Recipe<Mlp<{.in = 2, .hidden = 8, .out = 1}>> {};

int main(int argc, char** argv) { return run<rows>(argc, argv); }
