// SPDX-License-Identifier: Apache-2.0
// Compares the gradients of the model, and so of its layers, with finite differences in double
// precision. Run it whenever you have changed a layer.
#include <cstdio>

#include "../src/model.hpp"

struct tiny
    : sinter::Recipe<my_project::Reader<{.layers = 1, .heads = 2, .width = 8, .positions = 8}>,
                     sinter::Bytes<{.context = 8}>, sinter::Fp64,
                     sinter::Batch<{.global = 2, .micro = 2}>> {};

int main() {
  sinter::HostBatch batch;
  batch.ids.resize(2);  // tokens, and the token after each
  for (int row = 0; row < 16; ++row) {
    batch.ids[0].push_back(row * 37 % 256);
    batch.ids[1].push_back((row + 1) * 37 % 256);
  }
  batch.starts = {0, 8, 16};
  const sinter::GradientReport report = sinter::check_gradients<tiny>(batch);
  std::printf("%s", report.text().c_str());
  return report.passed() ? 0 : 1;
}
