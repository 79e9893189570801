// SPDX-License-Identifier: Apache-2.0
// Curves, and what a page needs to draw them.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::detail::report {

struct Point {
  double x = 0, y = 0;  // finite
};

/// The mean of so many values, the last of which is at x.
struct Mean {
  double x = 0, y = 0;
  int values = 1;
};

struct Limits {
  double low = 0, high = 0;
};

/// The name of a place on an axis, and what fits beneath it.
struct Name {
  std::string full, brief;
};

struct Curve {
  std::string name;             // empty: it is not in the legend
  std::vector<Point> points{};  // x never falls
  int colour = 0;               // of a palette that begins anew, with other dashes, at its end
  bool marks = false;           // few points, which are shown themselves
  bool dark = false;            // a darker shade of the colour
  std::vector<Mean> means{};    // of intervals, for a moving average; none if it is not smoothed
};

struct Chart {
  std::string title, x, y;
  std::vector<Curve> curves;
  bool logarithmic = false;      // a scale that the reader may ask for
  bool from_zero = false;        // true if y begins there
  std::optional<Limits> axis{};  // of y, if it does not hold all values
  std::string beyond{};          // a sentence on those that it does not hold
  std::vector<Name> names{};     // of x, if these are 0, 1, …

  bool empty() const;
};

/// Returns at most `most` points of a curve: the lowest and the highest of each interval, and both
/// ends, so that no spike is lost.
/// requires  most >= 8
std::vector<Point> thinned(std::span<const Point> points, std::size_t most);

/// A palette's colour, "#rrggbb", or its darker shade.
std::string_view colour(int number, bool dark = false);
/// The lengths of a curve's dashes and gaps; none for a whole line.
std::vector<int> dashes(int number);

/// About `count` round numbers from `low` to `high`, the first not above `low`.
/// requires  both are finite, and low < high
std::vector<double> ticks(double low, double high, int count);

/// The chart for the page's script. Values have six digits.
nlohmann::ordered_json json_of(const Chart& chart);

/// A text for HTML, in an element or an attribute.
std::string escaped(std::string_view text);

}  // namespace sinter::detail::report
