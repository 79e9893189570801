// SPDX-License-Identifier: Apache-2.0
#include "report/smoothing.hpp"

#include <algorithm>
#include <cmath>

namespace sinter::detail::report {

std::vector<Mean> means_of(std::span<const Point> points, std::size_t most, Limits range) {
  const std::size_t intervals = std::min(most, points.size());
  std::vector<Mean> means;
  for (std::size_t k = 0; k < intervals; ++k) {
    const std::size_t begin = points.size() * k / intervals,
                      end = points.size() * (k + 1) / intervals;
    Mean mean{points[end - 1].x, 0, int(end - begin)};
    for (const Point& p : points.subspan(begin, end - begin))
      mean.y += std::clamp(p.y, range.low, range.high) / mean.values;
    means.push_back(mean);
  }
  return means;
}

std::vector<Point> smoothed(std::span<const Mean> means, double weight) {
  std::vector<Point> points;
  double sum = 0, missing = 1;
  for (const Mean& mean : means) {
    const double kept = std::pow(weight, mean.values);
    sum = kept * sum + (1 - kept) * mean.y;
    missing *= kept;
    points.push_back({mean.x, sum / (1 - missing)});
  }
  return points;
}

double usual_weight(std::size_t values) {
  constexpr double parts = 50;
  return std::clamp(1 - parts / std::max(1., double(values)), 0., 0.999);
}

}  // namespace sinter::detail::report
