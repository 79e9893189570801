// SPDX-License-Identifier: Apache-2.0
// The sums of metrics of classes: how often each class is right, predicted and true.
#pragma once
#include "sinter/metric/metric.hpp"

namespace sinter::detail {

/// A view of 3 × classes sums. The margins of the confusion matrix and its diagonal suffice for
/// both metrics.
template <class Sum>
struct ClassCounts {
  std::span<Sum> right, predicted, actual;  ///< rows of each class

  constexpr ClassCounts(std::span<Sum> sums, int classes)
      : right(sums.first(std::size_t(classes))),
        predicted(sums.subspan(std::size_t(classes), std::size_t(classes))),
        actual(sums.subspan(2 * std::size_t(classes), std::size_t(classes))) {}
};

constexpr int class_count_sums(int classes) { return 3 * classes; }

constexpr void count_classes(const ClassifiedRows& rows, std::span<double> sums) {
  const ClassCounts<double> counts(sums, rows.classes);
  for (std::size_t r = 0; r < rows.actual.size(); ++r) {
    const auto actual = std::size_t(rows.actual[r]), predicted = std::size_t(rows.predicted[r]);
    counts.right[actual] += predicted == actual;
    ++counts.predicted[predicted];
    ++counts.actual[actual];
  }
}

}  // namespace sinter::detail
