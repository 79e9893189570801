// SPDX-License-Identifier: Apache-2.0
// A metric to copy: the share of rows whose class is among the two most likely ones. docs/add_a_metric.md
// explains each member. This file compiles, runs and checks its own arithmetic.
#include <algorithm>
#include <cstdio>
#include <sinter/sinter.hpp>

namespace acme {
using namespace sinter;

/// Top-2 accuracy, from 0 to 1.
struct TopTwo {
  // What logs, files and flags call it: small letters, digits and '_'.
  static constexpr std::string_view name = "top_two";
  static constexpr bool greater_is_better = true;

  // The sums that it keeps: here the rows that are right, and all rows.
  static constexpr int sums(int) { return 2; }
  // Adds the rows of a part of a batch. The sums of all parts and ranks are added, so they must be
  // counts, or sums of numbers: a mean of means would depend on how rows are divided.
  static void add(const ClassifiedRows& rows, std::span<double> sums) {
    for (std::size_t r = 0; r < rows.actual.size(); ++r) {
      const auto logits =
          rows.logits.subspan(r * std::size_t(rows.classes), std::size_t(rows.classes));
      const float own = logits[std::size_t(rows.actual[r])];
      sums[0] += std::ranges::count_if(logits, [&](float other) { return other > own; }) < 2;
    }
    sums[1] += double(rows.actual.size());
  }
  // The figure by the sums of all rows.
  static double value(std::span<const double> sums, int) { return sums[0] / sums[1]; }
};

// The rows are points of a line, whose class is the third that they are in.
struct mine
    : Recipe<Mlp<{.in = 1, .hidden = 16, .out = 3, .classifier = true}>, AdamW<{.lr = 1e-2}>,
             Batch<{.global = 30, .micro = 30}>, Metrics<Accuracy, TopTwo>> {};

}  // namespace acme

int main() {
  std::vector<float> at;
  std::vector<std::int32_t> third;
  for (int i = 0; i < 300; ++i) {
    at.push_back(float(i) / 150 - 1);
    third.push_back(i / 100);
  }
  sinter::Trainer<acme::mine> trainer;
  sinter::Loop loop(trainer, sinter::ArrayData({at, 1, third}, {.sequences = 30}),
                    sinter::EvaluationArrays({at, 1, third}, 64));
  loop.run({.steps = 200, .best_by = "top_two"});
  const auto& metrics = loop.state().last.metrics;
  for (const auto& metric : metrics) std::printf("%s %.4f\n", metric.name.c_str(), metric.value);
  const bool fits = metrics.size() == 2 && metrics[1].name == "top_two" &&
                    metrics[1].value >= metrics[0].value && metrics[1].value > 0.9;
  return fits ? 0 : 1;
}
