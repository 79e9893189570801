// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cmath>

#include "sinter/metric/class_counts.hpp"

namespace sinter {

/// Matthews' correlation coefficient of predicted and true classes, for any number of classes
/// (Gorodkin 2004, R_K), from -1 to 1; 0 where all rows have one class or are predicted as one, as
/// in scikit-learn. GLUE's figure for CoLA.
struct Matthews {
  static constexpr std::string_view name = "matthews";
  static constexpr bool greater_is_better = true;

  static constexpr int sums(int classes) { return detail::class_count_sums(classes); }
  static constexpr void add(const ClassifiedRows& rows, std::span<double> sums) {
    detail::count_classes(rows, sums);
  }
  static double value(std::span<const double> sums, int classes) {
    const detail::ClassCounts<const double> counts(sums, classes);
    double all = 0, right = 0, both = 0, predicted = 0, actual = 0;
    for (std::size_t k = 0; k < std::size_t(classes); ++k) {
      all += counts.actual[k];
      right += counts.right[k];
      both += counts.predicted[k] * counts.actual[k];
      predicted += counts.predicted[k] * counts.predicted[k];
      actual += counts.actual[k] * counts.actual[k];
    }
    if (all == 0) return std::nan("");
    const double spread = (all * all - predicted) * (all * all - actual);
    return spread > 0 ? (all * right - both) / std::sqrt(spread) : 0;
  }
};

}  // namespace sinter
