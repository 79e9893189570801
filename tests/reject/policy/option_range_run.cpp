// SPDX-License-Identifier: Apache-2.0
// Must not compile: Sinter: an option of a policy is outside its range
// and: {"decay"}
// and: {"below 0"}
#include "sinter/sinter.hpp"
using namespace sinter;

struct mine : Recipe<Mlp<>, Adafactor<{.decay = 0.8}>> {};

int main(int argc, char** argv) { return run<mine>(argc, argv); }
