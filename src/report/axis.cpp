// SPDX-License-Identifier: Apache-2.0
#include "report/axis.hpp"

#include <cmath>

#include "report/chart.hpp"

namespace sinter::detail::report {

void Axis::round(int count, bool outwards) {
  if (low == high) {
    const double around = low == 0 ? 1 : std::abs(low) / 10;
    low -= around, high += around;
  }
  marks = ticks(low, high, count);
  constexpr double most = std::numeric_limits<double>::max();
  if (outwards) {
    low = std::clamp(marks.front(), -most, low);
    high = std::clamp(marks.back(), high, most);
  }
  std::erase_if(marks, [&](double mark) { return mark < low || mark > high; });
}

}  // namespace sinter::detail::report
