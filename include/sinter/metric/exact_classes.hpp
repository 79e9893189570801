// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>

#include "sinter/metric/metric.hpp"

namespace sinter {

/// The share of rows of which all classes are predicted and no other: scikit-learn's accuracy_score
/// of rows with several classes. Of rows with one class each, see Accuracy.
struct ExactClasses {
  static constexpr std::string_view name = "exact_match";
  static constexpr bool greater_is_better = true;

  static constexpr int sums(int) { return 2; }
  static constexpr void add(const ClassSetRows& rows, std::span<double> sums) {
    const auto classes = std::size_t(rows.classes);
    for (std::size_t at = 0; at < rows.actual.size(); at += classes) {
      sums[0] +=
          std::ranges::equal(rows.actual.subspan(at, classes), rows.predicted.subspan(at, classes));
      ++sums[1];
    }
  }
  static constexpr double value(std::span<const double> sums, int) { return sums[0] / sums[1]; }
};

}  // namespace sinter
