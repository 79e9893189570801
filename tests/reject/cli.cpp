// SPDX-License-Identifier: Apache-2.0
#include "sinter/sinter.hpp"
using namespace sinter;

// Must not compile (quick), run: Batch: micro × ranks does not divide global
struct mine : Recipe<Mlp<>, Batch<{.global = 10, .micro = 4}>> {};

int main(int argc, char** argv) { return run<mine>(argc, argv); }
