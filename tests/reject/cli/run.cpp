// SPDX-License-Identifier: Apache-2.0
// Must not compile: Batch: micro × ranks does not divide global
#include "sinter/sinter.hpp"
using namespace sinter;

struct mine : Recipe<Mlp<>, Batch<{.global = 10, .micro = 4}>> {};

int main(int argc, char** argv) { return run<mine>(argc, argv); }
