// SPDX-License-Identifier: Apache-2.0
// Curves, and what a page needs to draw them.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::detail::report {

struct Point {
  double x = 0, y = 0;  // finite
};

struct Curve {
  std::string name;
  std::vector<Point> points;  // x never falls
  int colour = 0;             // of a palette that begins anew, with other dashes, at its end
  bool marks = false;         // few points, which are shown themselves
};

struct Chart {
  std::string title, x, y;
  std::vector<Curve> curves;
  bool logarithmic = false;  // a scale that the reader may ask for
  bool from_zero = false;    // true if y begins there

  bool empty() const;
};

/// Returns at most `most` points of a curve: the lowest and the highest of each interval, and both
/// ends, so that no spike is lost.
/// requires  most >= 8
std::vector<Point> thinned(std::span<const Point> points, std::size_t most);

/// A palette's colour, "#rrggbb".
std::string_view colour(int number);
/// The lengths of a curve's dashes and gaps; none for a whole line.
std::vector<int> dashes(int number);

/// About `count` round numbers from `low` to `high`, the first not above `low`.
/// requires  both are finite, and low < high
std::vector<double> ticks(double low, double high, int count);

/// The chart as an <svg> element.
std::string svg_of(const Chart& chart);
/// The chart for the page's script.
nlohmann::ordered_json json_of(const Chart& chart);

/// A text for HTML, in an element or an attribute.
std::string escaped(std::string_view text);

}  // namespace sinter::detail::report
