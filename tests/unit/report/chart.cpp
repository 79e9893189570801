// SPDX-License-Identifier: Apache-2.0
#include "report/svg.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace sinter::detail::testing::chart_tests {
using namespace sinter::detail::report;

std::vector<Point> wave(int count) {
  std::vector<Point> points;
  for (int k = 0; k < count; ++k) points.push_back({double(k), std::sin(k * 0.01)});
  return points;
}

TEST_CASE("a short curve stays as it is") {
  const auto points = wave(100);
  const auto kept = thinned(points, 100);
  REQUIRE(kept.size() == 100);
  for (std::size_t k = 0; k < 100; ++k) CHECK(kept[k].y == points[k].y);
}

TEST_CASE("a thinned curve keeps its ends and every spike, in order, within the bound") {
  for (int count : {101, 1000, 54'321}) {
    CAPTURE(count);
    auto points = wave(count);
    points[std::size_t(count / 3)].y = 1000;
    points[std::size_t(count / 2)].y = -1000;
    const auto kept = thinned(points, 100);
    CHECK(kept.size() <= 100);
    CHECK(kept.size() > 50);
    CHECK(kept.front().x == 0);
    CHECK(kept.back().x == count - 1);
    CHECK(std::ranges::is_sorted(kept, {}, &Point::x));
    CHECK(std::ranges::max(kept, {}, &Point::y).x == count / 3);
    CHECK(std::ranges::min(kept, {}, &Point::y).x == count / 2);
  }
}

TEST_CASE("ticks are round numbers that surround what they mark") {
  CHECK(ticks(0, 10, 5) == std::vector<double>{0, 2, 4, 6, 8, 10});
  CHECK(ticks(1, 60, 6) == std::vector<double>{0, 10, 20, 30, 40, 50, 60});
  const double huge = std::numeric_limits<double>::max();
  for (auto [low, high] : {std::pair(-1e-300, 1e-300), std::pair(2.4, 5.6), std::pair(-huge, huge),
                           std::pair(1., std::nextafter(1., 2.))}) {
    CAPTURE(low);
    const auto marks = ticks(low, high, 5);
    CHECK(marks.size() >= 2);
    CHECK(marks.size() <= 13);
    CHECK(marks.front() <= low);
    CHECK(marks.back() >= high);
  }
}

TEST_CASE("a drawing stays within its frame and has no number that is none") {
  const double huge = std::numeric_limits<double>::max();
  for (const std::vector<Point>& points :
       {wave(500), std::vector<Point>{{1, 0}}, std::vector<Point>{{1, 5}, {2, 5}},
        std::vector<Point>{{1, -huge}, {2, huge}, {3, 0}}}) {
    const std::string svg = svg_of({"t", "x", "y", {{"c", points}, {"d", points, 7, true}}}, 0);
    CHECK(svg.find("nan") == svg.npos);
    CHECK(svg.find("inf") == svg.npos);
    std::size_t at = svg.find("points=\"") + 8;
    while (svg[at] != '"') {
      std::size_t used = 0;
      const double x = std::stod(svg.substr(at), &used);
      at += used + 1;
      const double y = std::stod(svg.substr(at), &used);
      at += used + 1;
      CHECK((x >= 0 && x <= 640 && y >= 0 && y <= 280));
    }
  }
}

TEST_CASE("a file of a chart has its title, both axes, and each curve that has a name") {
  const std::string svg =
      svg_file_of({"a < b", "bytes", "speed", {{"", wave(5)}, {"one", {{1, 0}}, 1, true}}});
  CHECK(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  CHECK(svg.ends_with("</svg>\n"));
  for (const char* text : {">a &lt; b<", ">bytes<", ">speed<", ">one<", "<circle"})
    CHECK(svg.find(text) != svg.npos);
  std::size_t lines = 0, names = 0;
  for (std::size_t at = 0; (at = svg.find("<polyline", at)) != svg.npos; ++at) ++lines;
  for (std::size_t at = 0; (at = svg.find("width=\"10\"", at)) != svg.npos; ++at) ++names;
  CHECK(lines == 2);
  CHECK(names == 1);
}

TEST_CASE("curves of one colour differ in their dashes") {
  CHECK(dashes(0).empty());
  CHECK(dashes(5).empty());
  CHECK(colour(0) == colour(6));
  for (int number = 0; number < 6; ++number) CHECK(colour(number) != colour(number, true));
  for (int lap = 1; lap < 8; ++lap)
    for (int other = 0; other < lap; ++other) CHECK(dashes(6 * lap) != dashes(6 * other));
}

TEST_CASE("no text of a run ends its place in the page") {
  CHECK(escaped("a<b>&\"c\"'") == "a&lt;b&gt;&amp;&quot;c&quot;&#39;");
  const std::string svg =
      svg_of({"<t>", "<x>", "\"y\"", {{"</svg><script>", {{1, 2}, {2, 3}}}}}, 0);
  for (const char* bad : {"<t>", "<x>", "\"y\"", "<script>"}) CHECK(svg.find(bad) == svg.npos);
}

}  // namespace sinter::detail::testing::chart_tests
