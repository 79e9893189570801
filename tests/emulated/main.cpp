// SPDX-License-Identifier: Apache-2.0
// main() of the tests on the emulated device.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
#include <hwy/targets.h>

int main(int argc, char** argv) {
  // A card has none of the host's instruction sets: what tests repeat on each, they do here once.
  hwy::SetSupportedTargetsForTest(HWY_SCALAR);
  return doctest::Context(argc, argv).run();
}
