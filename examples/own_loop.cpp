// SPDX-License-Identifier: Apache-2.0
// The loop around the step, on your own arrays: some rows are held out and evaluated, each step is
// seen, and your own condition ends the run.
#include <cmath>
#include <cstdio>
#include <sinter/sinter.hpp>
using namespace sinter;

struct curve : Recipe<Mlp<{.in = 1, .hidden = 64, .out = 1, .layers = 3}>, AdamW<{.lr = 3e-3}>,
                      Batch<{.global = 64, .micro = 64}>> {};

int main() {
  std::vector<float> x, y, held_x, held_y;
  for (int i = 0; i < 1000; ++i) {
    const bool held_out = i % 10 == 0;
    const float at = float(i) / 500 - 1;
    (held_out ? held_x : x).push_back(at);
    (held_out ? held_y : y).push_back(std::sin(4 * at));
  }
  Trainer<curve> trainer;
  Loop loop(trainer, ArrayData(x, 1, y, 1, {.sequences = 64}),
            EvaluationArrays(held_x, 1, held_y, 1, 64));
  const LoopEnd end = loop.run({
      .steps = 3000,
      .evaluate_every = 100,
      .on_step =
          [](const auto& step) {
            if (!step.validation_loss) return;
            std::printf("step %4d, loss %.6f, validation loss %.6f\n", int(step.step), step.loss,
                        *step.validation_loss);
          },
      .on_warning = [](const std::string& text) { std::printf("warning: %s\n", text.c_str()); },
      .stop = [&] { return loop.state().best < 1e-3; },
  });
  std::printf("%s, best at step %d\n", end == LoopEnd::stopped ? "Good enough" : "All steps taken",
              int(loop.state().best_step));
  return end == LoopEnd::stopped ? 0 : 1;
}
