// SPDX-License-Identifier: Apache-2.0
// Regression on your own arrays, inside your own program.
#include <cmath>
#include <cstdio>
#include <sinter/sinter.hpp>
using namespace sinter;

struct curve : Recipe<Mlp<{.in = 1, .hidden = 64, .out = 1, .layers = 3}>, AdamW<{.lr = 3e-3}>,
                      Batch<{.global = 64, .micro = 64}>> {};

int main() {
  std::vector<float> x, y;
  for (int i = 0; i < 1000; ++i) {
    x.push_back(float(i) / 500 - 1);
    y.push_back(std::sin(4 * x.back()));
  }
  ArrayData data(x, 1, y, 1, {.sequences = 64});
  Trainer<curve> trainer;
  HostBatch batch;
  for (int step = 1; step <= 1000; ++step) {
    data.next(batch);
    Outcome outcome = trainer.step(batch);
    auto* applied = std::get_if<Applied>(&outcome);
    if (!applied) return std::puts("The loss is not finite."), 1;
    if (step % 200 == 0) std::printf("step %4d, loss %.6f\n", step, applied->loss.mean());
  }
  HostBatch question;
  question.starts = {0, 1};
  question.values = {{0.5f}};
  float answer = trainer.predict(question).values[0];
  std::printf("sin(2) = %.3f, the model says %.3f\n", std::sin(2.0), answer);
  return std::abs(answer - std::sin(2.0f)) < 0.05f ? 0 : 1;
}
