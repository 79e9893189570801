// SPDX-License-Identifier: Apache-2.0
#include "report/terminal.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <limits>
#include <sstream>

using namespace sinter::detail::report;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::vector<Point> falling(int count) {
  std::vector<Point> points;
  for (int k = 0; k < count; ++k) points.push_back({double(k + 1), double(count - k)});
  return points;
}

}  // namespace

TEST_CASE("a curve in ASCII falls from the top left to the bottom right") {
  const auto lines = lines_of(curve_text(falling(60), Letters::ascii));
  REQUIRE(lines.size() == 13);
  CHECK(lines[0].starts_with("        60 | *"));
  CHECK(lines[11].starts_with("         1 | "));
  CHECK(lines[11].back() == '*');
  CHECK(lines[11].size() == 13 + 60);
  CHECK(lines[12].find_first_not_of(' ') == 13);
  CHECK(lines[12].ends_with(" 60"));
  CHECK(lines[12].size() == 13 + 60);
  // Each column has a mark.
  for (std::size_t column = 13; column < 73; ++column) {
    bool any = false;
    for (int line = 0; line < 12; ++line)
      any |= column < lines[line].size() && lines[line][column] == '*';
    CHECK(any);
  }
}

TEST_CASE("a spike among many steps is seen") {
  std::vector<Point> points(100'000);
  for (std::size_t k = 0; k < points.size(); ++k) points[k] = {double(k), 1};
  points[50'000].y = 9;
  const auto lines = lines_of(curve_text(points, Letters::ascii));
  CHECK(lines[0].starts_with("         9 |"));
  CHECK(lines[0].find('*') == 13 + 30);
}

TEST_CASE("a value beyond a given axis lies at its end") {
  std::vector<Point> points = falling(60);
  points[30].y = 1e9;
  const auto lines = lines_of(curve_text(points, Letters::ascii, Limits{0, 80}));
  CHECK(lines[0].starts_with("        80 |"));
  CHECK(lines[0].find('*') == 13 + 30);
  CHECK(lines[11].starts_with("         0 |"));
}

TEST_CASE("a curve in braille has four dots above each other and two side by side") {
  const auto lines = lines_of(curve_text(std::vector<Point>{{1, 2}, {2, 1}}, Letters::braille));
  REQUIRE(lines.size() == 13);
  CHECK(lines[0].starts_with("         2 ┤ \u2809"));  // dots 1 and 4, the two topmost
  std::string level;
  for (int column = 0; column < 60; ++column) level += "\u2809";
  const auto flat = lines_of(curve_text(std::vector<Point>{{1, 3}, {2, 3}}, Letters::braille));
  CHECK(flat[6].ends_with("┤ " + level));
}

TEST_CASE("curves of one point, of equal and of the largest numbers are drawn") {
  const double huge = std::numeric_limits<double>::max();
  for (const std::vector<Point>& points :
       {std::vector<Point>{{5, 1}}, std::vector<Point>{{1, 3}, {2, 3}},
        std::vector<Point>{{1, -huge}, {2, huge}}}) {
    const std::string text = curve_text(points, Letters::ascii);
    CHECK(lines_of(text).size() == 13);
    CHECK(text.find('*') != text.npos);
  }
}

TEST_CASE("the letters are those of the locale") {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) ::unsetenv(name);
  CHECK(letters_of_locale() == Letters::ascii);
  ::setenv("LANG", "de_DE.UTF-8", 1);
  CHECK(letters_of_locale() == Letters::braille);
  ::setenv("LC_CTYPE", "C", 1);
  CHECK(letters_of_locale() == Letters::ascii);
  ::setenv("LC_ALL", "C.utf8", 1);
  CHECK(letters_of_locale() == Letters::braille);
}
