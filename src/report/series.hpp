// SPDX-License-Identifier: Apache-2.0
// From all values of columns to the curves of a chart.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "report/chart.hpp"

namespace sinter::detail::report {

/// A curve, and all its points, which are yet to be thinned.
struct Series {
  Curve curve;
  std::vector<Point> all;
};

/// noisy      values are smoothed, unless they are marked, and spikes lie beyond the axis
/// exact      all values are shown as they are
enum class Look { noisy, exact };

/// Gives a chart its curves, and its axis if some values lie beyond it.
Chart chart_of_series(Chart chart, std::vector<Series> series, Look look);

/// The number of values of the longest curve that is smoothed.
std::size_t values_of(const Chart& chart);

}  // namespace sinter::detail::report
