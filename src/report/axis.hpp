// SPDX-License-Identifier: Apache-2.0
// The numbers that an axis shows.
#pragma once
#include <algorithm>
#include <limits>
#include <vector>

namespace sinter::detail::report {

struct Axis {
  double low = std::numeric_limits<double>::max(), high = -low;
  std::vector<double> marks;

  void include(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  /// Gives it about `count` marks and a length, and widens it to round numbers if `outwards`.
  void round(int count, bool outwards);
  /// The place of a value, from 0 to 1: values beyond an end lie there.
  double at(double value) const {
    const double inside = std::clamp(value, low, high);
    return (inside / 2 - low / 2) / (high / 2 - low / 2);  // halves keep the largest finite
  }
};

}  // namespace sinter::detail::report
