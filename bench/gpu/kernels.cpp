// SPDX-License-Identifier: Apache-2.0
// main() of the tests of kernels on a card. They have arrays of the host, which a card can reach where the
// driver says so (nvidia-smi -q: Addressing Mode HMM or ATS), and read results without waiting for them.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
#include <hwy/targets.h>

#include <cstdlib>

#include "sinter/device/card.hpp"

int main(int argc, char** argv) {
  setenv("CUDA_LAUNCH_BLOCKING", "1", 1);       // each launch waits for its kernel
  hwy::SetSupportedTargetsForTest(HWY_SCALAR);  // a card has none of the host's instruction sets
  sinter::open_card(0);
  return doctest::Context(argc, argv).run();
}
