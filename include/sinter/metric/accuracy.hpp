// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/metric/metric.hpp"

namespace sinter {

/// The share of rows whose class is predicted.
struct Accuracy {
  static constexpr std::string_view name = "accuracy";
  static constexpr bool greater_is_better = true;

  static constexpr int sums(int) { return 2; }
  static constexpr void add(const ClassifiedRows& rows, std::span<double> sums) {
    for (std::size_t r = 0; r < rows.actual.size(); ++r)
      sums[0] += rows.predicted[r] == rows.actual[r];
    sums[1] += double(rows.actual.size());
  }
  static constexpr double value(std::span<const double> sums, int) { return sums[0] / sums[1]; }
};

}  // namespace sinter
