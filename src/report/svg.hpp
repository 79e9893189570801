// SPDX-License-Identifier: Apache-2.0
// A chart without a script.
#pragma once
#include <string>

#include "report/chart.hpp"

namespace sinter::detail::report {

/// The chart as an <svg> element and its legend. What lies beyond the chart's axis is marked at the
/// edge, and a second drawing, which the reader may open, shows it.
/// requires  0 <= weight < 1, of the moving averages
std::string svg_of(const Chart& chart, double weight);

/// The chart as an SVG file, with its title, the names of both axes, and its legend.
std::string svg_file_of(const Chart& chart);

}  // namespace sinter::detail::report
