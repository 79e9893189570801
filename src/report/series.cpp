// SPDX-License-Identifier: Apache-2.0
#include "report/series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "report/axis.hpp"
#include "report/robust_range.hpp"
#include "report/smoothing.hpp"
#include "sinter/data/unit.hpp"

namespace sinter::detail::report {
namespace {

constexpr std::size_t max_points = 1000, max_means = 500;  // of a curve on a page

/// The round ends of an axis that no spike eats.
Limits axis_of(const std::vector<Series>& series, bool from_zero) {
  Axis axis;
  for (const Series& one : series) {
    if (one.all.empty()) continue;
    const Limits range = robust_range(one.all);
    axis.include(range.low), axis.include(range.high);
  }
  if (from_zero) axis.include(0);
  axis.round(5, true);
  return {axis.low, axis.high};
}

/// True if the whole of the values would take more than half of its axis from what `range` holds.
bool is_worth(const std::vector<Series>& series, Limits range) {
  Axis whole;
  for (const Series& one : series)
    for (const Point& p : one.all) whole.include(p.y);
  return whole.high / 2 - whole.low / 2 > range.high - range.low;
}

/// A sentence on the values beyond a range; empty if there are none.
std::string beyond_text(const std::vector<Series>& series, Limits range, const std::string& x) {
  std::int64_t count = 0;
  Point farthest;
  double distance = 0;
  for (const Series& one : series)
    for (const Point& p : one.all) {
      const double past = std::max(p.y / 2 - range.high / 2, range.low / 2 - p.y / 2);
      if (past <= 0) continue;
      ++count;
      if (past > distance) farthest = p, distance = past;
    }
  if (count == 0) return "";
  return fmt::format("{} value{} beyond the axis, the farthest {:.4g} at {} {}.", thousands(count),
                     count == 1 ? " lies" : "s lie", farthest.y, x,
                     thousands(std::int64_t(farthest.x)));
}

}  // namespace

Chart chart_of_series(Chart chart, std::vector<Series> series, Look look) {
  constexpr double most = std::numeric_limits<double>::max();
  const bool any = std::ranges::any_of(series, [](const Series& s) { return !s.all.empty(); });
  if (look == Look::noisy && any) {
    const Limits axis = axis_of(series, chart.from_zero);
    if (is_worth(series, axis)) chart.axis = axis;
    if (chart.axis) chart.beyond = beyond_text(series, axis, chart.x);
  }
  for (Series& one : series) {
    one.curve.points = thinned(one.all, max_points);
    if (look == Look::noisy && !one.curve.marks)
      one.curve.means = means_of(one.all, max_means, chart.axis.value_or(Limits{-most, most}));
    chart.curves.push_back(std::move(one.curve));
  }
  return chart;
}

std::size_t values_of(const Chart& chart) {
  std::size_t most = 0;
  for (const Curve& curve : chart.curves) {
    std::size_t values = 0;
    for (const Mean& mean : curve.means) values += std::size_t(mean.values);
    most = std::max(most, values);
  }
  return most;
}

}  // namespace sinter::detail::report
