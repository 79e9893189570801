// SPDX-License-Identifier: Apache-2.0
// Fits y = 2 a - b with the library's trainer, inside a program that is not ours.
#include <cstdio>
#include <sinter/sinter.hpp>
#include <vector>

struct my_fit
    : sinter::Recipe<sinter::Mlp<{.in = 2, .hidden = 16, .out = 1}>, sinter::AdamW<{.lr = 1e-2}>,
                     sinter::Batch<{.global = 64, .micro = 64}>> {};

int main() {
  std::vector<float> inputs, targets;
  for (int i = 0; i < 256; ++i) {
    const float a = float(i % 16) / 16, b = float(i / 16) / 16;
    inputs.insert(inputs.end(), {a, b});
    targets.push_back(2 * a - b);
  }
  sinter::ArrayData data(inputs, 2, targets, 1, {.sequences = 64});
  sinter::EvaluationArrays all(inputs, 2, targets, 1, 64);

  sinter::Trainer<my_fit> trainer;
  const double before = trainer.evaluate(all).mean();
  sinter::HostBatch batch;
  for (int step = 0; step < 200; ++step) {
    data.next(batch);
    trainer.step(batch);
  }
  all.restart();
  const double after = trainer.evaluate(all).mean();
  std::printf("mean squared error: %.4f before, %.4f after\n", before, after);
  return after < before / 10 ? 0 : 1;
}
