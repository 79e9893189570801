// SPDX-License-Identifier: Apache-2.0
#include "report/series.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "report/robust_range.hpp"
#include "report/svg.hpp"
#include "support/message_of.hpp"

namespace sinter::detail::testing::series_tests {
using namespace sinter::detail::report;

/// A loss as they fall: from 5.5 to about 1.4.
std::vector<Point> loss(int count) {
  std::vector<Point> points;
  for (int k = 0; k < count; ++k)
    points.push_back(
        {double(k + 1), 1.4 + 4.1 * std::exp(-12. * k / count) + 0.05 * std::sin(k * 0.7)});
  return points;
}

Chart chart_with(std::vector<Point> points, Look look = Look::noisy) {
  return chart_of_series({"t", "step", "", {}, true}, {{{"c"}, std::move(points)}}, look);
}

TEST_CASE("the axis of a curve without spikes holds all of it, its steep beginning too") {
  for (int count : {12, 100, 3000}) {
    CAPTURE(count);
    const auto points = loss(count);
    CHECK(robust_range(points).high >= 5.5);
    CHECK_FALSE(chart_with(points).axis);
    CHECK(chart_with(points).beyond.empty());
  }
  const double huge = std::numeric_limits<double>::max();
  for (const std::vector<Point>& points :
       {std::vector<Point>{{1, 5}}, std::vector<Point>{{1, 5}, {2, 5}},
        std::vector<Point>{{1, -huge}, {2, huge}, {3, 0}}, std::vector<Point>(100, Point{1, 2})})
    CHECK_FALSE(chart_with(points).axis);
}

TEST_CASE("spikes do not eat the axis, and are said") {
  auto points = loss(3000);
  points[2000].y = 1e6;
  points[2001].y = 5e5;
  const Chart chart = chart_with(points);
  REQUIRE(chart.axis);
  CHECK(chart.axis->high == 6);
  CHECK(chart.axis->low <= 1.35);
  CHECK(chart.beyond == "2 values lie beyond the axis, the farthest 1e+06 at step 2,001.");
  CHECK(json_of(chart)["axis"]["high"] == 6);
  // What is exact, such as the learning rate, is shown whole.
  CHECK_FALSE(chart_with(points, Look::exact).axis);
  points = loss(12);
  points[7].y = -1e6;
  CHECK(chart_with(points).beyond ==
        "1 value lies beyond the axis, the farthest -1e+06 at step 8.");
}

TEST_CASE("an axis that would gain little holds all") {
  std::vector<Point> points(100, Point{0, 1});
  for (std::size_t k = 0; k < 100; ++k) points[k] = {double(k), k % 10 == 0 ? 10. : 0.};
  points[50].y = 10.5;
  CHECK_FALSE(chart_with(points).axis);
}

TEST_CASE("a run that diverges does not hide another one") {
  std::vector<Point> high(10), low = loss(3000);
  for (std::size_t k = 0; k < 10; ++k) high[k] = {double(k), 50. + double(k)};
  const Chart chart =
      chart_of_series({"t", "step", "", {}, true}, {{{"a"}, low}, {{"b"}, high}}, Look::noisy);
  CHECK(chart.beyond.empty());
}

TEST_CASE("a drawing marks at its edge what lies beyond, and shows it on request") {
  auto points = loss(100);
  points[60].y = 1e6;
  const std::string svg = svg_of(chart_with(points), 0.5);
  CHECK(contains(svg, "<title>1e+06 at 61</title>"));
  CHECK(contains(svg, "<details class=\"beyond\"><summary>1 value lies beyond the axis"));
  CHECK(contains(svg.substr(0, svg.find("<details")), ">6</text>"));
  CHECK(contains(svg.substr(svg.find("<details")), ">1e+06</text>"));
  CHECK_FALSE(contains(svg_of(chart_with(loss(100)), 0.5), "<details"));
}

TEST_CASE("a curve is faint behind its average, and alone without one") {
  const std::string smooth = svg_of(chart_with(loss(100)), 0.5),
                    plain = svg_of(chart_with(loss(100)), 0),
                    exact = svg_of(chart_with(loss(100), Look::exact), 0.5);
  CHECK(contains(smooth, "stroke-opacity=\".3\""));
  for (const std::string& svg : {plain, exact}) {
    CHECK_FALSE(contains(svg, "stroke-opacity"));
    CHECK(svg.find("<polyline") == svg.rfind("<polyline"));
  }
}

}  // namespace sinter::detail::testing::series_tests
