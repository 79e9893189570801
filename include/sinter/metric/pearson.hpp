// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cmath>

#include "sinter/metric/metric.hpp"

namespace sinter {

/// Pearson's correlation coefficient of predicted and true numbers, from -1 to 1: GLUE's figure for
/// STS-B. Of rows with several numbers it is the mean over their columns. NaN where all predicted or
/// all true numbers of a column are equal, as in SciPy's pearsonr. Its sums are in double, and lose
/// digits where numbers differ by less than a millionth of their mean.
struct Pearson {
  static constexpr std::string_view name = "pearson";
  static constexpr bool greater_is_better = true;

  static constexpr int sums(int columns) { return int(of_column) * columns; }
  static constexpr void add(const NumberRows& rows, std::span<double> sums) {
    for (std::size_t at = 0; at < rows.actual.size(); ++at) {
      const double x = rows.predicted[at], y = rows.actual[at];
      const std::span of = sums.subspan(at % std::size_t(rows.columns) * of_column, of_column);
      const double terms[of_column] = {1, x, y, x * x, y * y, x * y};
      for (std::size_t k = 0; k < of_column; ++k) of[k] += terms[k];
    }
  }
  static double value(std::span<const double> sums, int columns) {
    double all = 0;
    for (std::size_t column = 0; column < std::size_t(columns); ++column) {
      const std::span of = sums.subspan(column * of_column, of_column);
      const double rows = of[0], x = of[1], y = of[2];
      const double spread_x = of[3] - x * x / rows, spread_y = of[4] - y * y / rows;
      if (!(spread_x > 0 && spread_y > 0)) return std::nan("");
      all += (of[5] - x * y / rows) / (std::sqrt(spread_x) * std::sqrt(spread_y));
    }
    return all / columns;
  }

 private:
  static constexpr std::size_t of_column = 6;  // rows, and Σ of x, y, x², y² and xy
};

}  // namespace sinter
