// SPDX-License-Identifier: Apache-2.0
// recipes/mnist_mlp.cpp on the real images, as a user trains it: 8,000 of the 10,000 are learned, and
// 2,000 that the split's seed draws are read. Without the tests' data this is skipped.
#include "binary/support.hpp"

namespace sinter::detail::testing::mnist_tests {

TEST_CASE("a perceptron reads 95 % of MNIST's held-out images, in the mean of three seeds") {
  const fs::path folder = fs::path(SINTER_TEST_DATA) / "mnist";
  const std::string images = folder / "t10k-images-idx3-ubyte.gz",
                    labels = folder / "t10k-labels-idx1-ubyte.gz";
  if (!fs::exists(images) || !fs::exists(labels)) {
    MESSAGE("skipped: " << folder << " does not have the test images and labels of MNIST");
    return;
  }
  Scratch scratch;
  double sum = 0;
  for (const std::string seed : {"0", "1", "2"}) {
    CAPTURE(seed);
    const std::string out = scratch / seed;
    const Ended trained = fine({"train", "--data", images, labels, "--seed", seed, "--out", out,
                                "--eval-every", "100000", "--save-every", "0"},
                               SINTER_MNIST);
    CHECK(
        trained.out.find("10,000 rows in 2 files, 2,000 of them, drawn by the seed 0, held out") !=
        trained.out.npos);
    const Json held = fine({"eval", "--held-out", "--json", "--weights", out}, SINTER_MNIST).json();
    CHECK(held["tokens"] == 2000);
    const double accuracy = held["accuracy"];
    MESSAGE("seed ", seed, ": accuracy ", accuracy, ", loss ", held["loss"].get<double>());
    sum += accuracy;
    // All 10,000 are the 2,000 and 8,000 that were learned.
    const Json all =
        fine({"eval", "--json", "--weights", out, "--data", images, labels}, SINTER_MNIST).json();
    CHECK(all["tokens"] == 10000);
    CHECK(all["accuracy"].get<double>() > accuracy);
  }
  MESSAGE("mean accuracy ", sum / 3);
  CHECK(sum / 3 >= .95);
}

}  // namespace sinter::detail::testing::mnist_tests
