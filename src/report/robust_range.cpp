// SPDX-License-Identifier: Apache-2.0
#include "report/robust_range.hpp"

#include <algorithm>
#include <vector>

namespace sinter::detail::report {

Limits robust_range(std::span<const Point> points) {
  constexpr std::size_t fewest = 8, share = 20;
  constexpr double reach = 3;
  std::vector<double> values;
  for (const Point& p : points) values.push_back(p.y);
  std::ranges::sort(values);
  if (values.size() < fewest) return {values.front(), values.back()};
  const std::size_t apart = std::max<std::size_t>(1, values.size() / share);
  const double low = values[apart], high = values[values.size() - 1 - apart];
  const double beyond = reach * (high / 2 - low / 2) * 2;
  const auto inside = [&](double value) { return value >= low - beyond && value <= high + beyond; };
  const auto first = std::ranges::find_if(values, inside);
  const auto last = std::find_if(values.rbegin(), values.rend(), inside);
  return {*first, *last};
}

}  // namespace sinter::detail::report
