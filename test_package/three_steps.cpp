// SPDX-License-Identifier: Apache-2.0
// Trains three steps of y = 2x, and fails unless each lowers the loss.
#include <cstdio>
#include <sinter/sinter.hpp>
#include <variant>
#include <vector>

struct line
    : sinter::Recipe<sinter::Mlp<{.in = 1, .hidden = 16, .out = 1}>, sinter::AdamW<{.lr = 1e-3}>,
                     sinter::Batch<{.global = 32, .micro = 32}>> {};

int main() {
  std::vector<float> x, y;
  for (int i = 0; i < 32; ++i) {
    x.push_back(float(i) / 32);
    y.push_back(2 * x.back());
  }
  sinter::ArrayData data(x, 1, y, 1, {.sequences = 32});
  sinter::Trainer<line> trainer;
  sinter::HostBatch batch;
  double before = 1e9;
  for (int step = 1; step <= 3; ++step) {
    data.next(batch);
    const sinter::Outcome outcome = trainer.step(batch);
    const auto* applied = std::get_if<sinter::Applied>(&outcome);
    if (!applied || !(applied->loss.mean() < before))
      return std::puts("The loss does not fall."), 1;
    before = applied->loss.mean();
    std::printf("step %d, loss %.6f\n", step, before);
  }
}
