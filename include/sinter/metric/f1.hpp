// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/metric/class_counts.hpp"

namespace sinter {

/// How the F1 of all classes becomes one figure, as in scikit-learn.
enum class F1Average : std::uint8_t {
  macro,    ///< the mean over the classes that occur, as predictions or in truth
  micro,    ///< of all rows counted together; equals the accuracy where each row has one class
  weighted  ///< the mean over classes, weighted by how often each is true
};

struct F1Options {
  F1Average average = F1Average::macro;  ///< how classes are averaged
};

/// F1 = 2 right / (predicted + actual), the harmonic mean of precision and recall; 0 for a class
/// without a right row (scikit-learn's f1_score with zero_division = 0). Its name is f1_macro,
/// f1_micro or f1_weighted.
template <F1Options O = {}>
struct F1 {
  static constexpr std::string_view name = O.average == F1Average::macro   ? "f1_macro"
                                           : O.average == F1Average::micro ? "f1_micro"
                                                                           : "f1_weighted";
  static constexpr bool greater_is_better = true;

  static constexpr int sums(int classes) { return detail::class_count_sums(classes); }
  static constexpr void add(const ClassifiedRows& rows, std::span<double> sums) {
    detail::count_classes(rows, sums);
  }
  static constexpr double value(std::span<const double> sums, int classes) {
    const detail::ClassCounts<const double> counts(sums, classes);
    double sum = 0, weights = 0, right = 0, all = 0;
    for (std::size_t k = 0; k < std::size_t(classes); ++k) {
      const double either = counts.predicted[k] + counts.actual[k];
      right += counts.right[k];
      all += either;
      if (either == 0) continue;
      const double weight = O.average == F1Average::weighted ? counts.actual[k] : 1;
      sum += weight * 2 * counts.right[k] / either;
      weights += weight;
    }
    return O.average == F1Average::micro ? 2 * right / all : sum / weights;
  }
};

}  // namespace sinter
