// SPDX-License-Identifier: Apache-2.0
// Recipes whose layers LibTorch computes, as a user runs them: weights that PyTorch has trained, and
// what is said of memory that is not planned. What needs the tests' data is skipped without them.
#include "binary/support.hpp"

namespace sinter::detail::testing::torch_layers_tests {

struct Digits {
  fs::path folder = fs::path(SINTER_TEST_DATA) / "mnist";
  std::string images = folder / "t10k-images-idx3-ubyte.gz",
              labels = folder / "t10k-labels-idx1-ubyte.gz";
  bool found() const {
    if (fs::exists(images) && fs::exists(labels)) return true;
    MESSAGE("skipped: " << folder << " does not have the test images and labels of MNIST");
    return false;
  }
};

bool says(const std::string& text, const char* part) { return text.find(part) != text.npos; }

TEST_CASE("a network that PyTorch has trained reads as many images as it does there") {
  const Digits digits;
  const fs::path packed = fs::path(SINTER_TEST_DATA) / "safetensors_mnist/mnist.safetensors.xz";
  if (!digits.found() || !fs::exists(packed)) return;
  Scratch scratch;
  const std::string weights = scratch / "mnist.safetensors", out = scratch / "exported";
  REQUIRE(std::system(("xz -dc '" + packed.string() + "' > '" + weights + "'").c_str()) == 0);
  auto evaluated = [&](const std::string& from) {
    return fine({"eval", "--json", "--weights", from, "--data", digits.images, digits.labels},
                SINTER_MNIST_CNN)
        .json();
  };
  const Json read = evaluated(weights);
  CHECK(read["tokens"] == 10000);
  CHECK(read["accuracy"] == doctest::Approx(.9917).epsilon(1e-9));
  fine({"export", "--weights", weights, "--out", out}, SINTER_MNIST_CNN);
  CHECK(evaluated(out) == read);
}

TEST_CASE("describe names the unit whose memory is not planned") {
  CHECK(run({"describe", "--json"}, SINTER_MNIST_RESNET).json()["unplanned"] ==
        Json::array({"resnet"}));
  CHECK(run({"describe", "--json"}, SINTER_MNIST).json()["unplanned"].empty());
  CHECK(says(run({"describe"}, SINTER_MNIST_RESNET).out,
             "unplanned   what layers of 'resnet' take comes on top of the total"));
  CHECK(!says(run({"describe"}, SINTER_MNIST).out, "unplanned"));
}

TEST_CASE("train says after its first step what layers took beside the arena") {
  const Digits digits;
  if (!digits.found()) return;
  Scratch scratch;
  const Ended trained = fine({"train", "--data", digits.images, digits.labels, "--steps", "2",
                              "--out", scratch / "run", "--eval-every", "100000"},
                             SINTER_MNIST_RESNET);
  const auto at = trained.out.find(" MiB beside the arena in the first step");
  CHECK(at != trained.out.npos);
  CHECK(trained.out.find("beside the arena", at + 20) == trained.out.npos);
}

}  // namespace sinter::detail::testing::torch_layers_tests
