// SPDX-License-Identifier: Apache-2.0
#include "report/terminal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace sinter::detail::report {
namespace {

constexpr int columns = 60, lines = 12;

/// Dots, of which a character of the terminal shows several.
class Dots {
  int wide, high;
  std::vector<bool> set;

 public:
  Dots(int w, int h) : wide(w), high(h), set(std::size_t(w * h)) {}
  bool at(int x, int y) const { return set[std::size_t(y * wide + x)]; }
  void upright(int x, int from, int to) {
    for (int y = std::min(from, to); y <= std::max(from, to); ++y)
      set[std::size_t(y * wide + x)] = true;
  }
  int width() const { return wide; }
  int height() const { return high; }
};

/// Draws a polyline; y counts from the top.
void draw_curve(std::span<const Point> points, Limits y, Dots& dots) {
  const double first = points.front().x, length = points.back().x - first;
  auto place_x = [&](double x) {
    return length > 0 ? int((x - first) / length * (dots.width() - 1) + 0.5) : 0;
  };
  auto place_y = [&](double value) {
    const double inside = std::clamp(value, y.low, y.high);
    const double part = y.high > y.low ? (y.high / 2 - inside / 2) / (y.high / 2 - y.low / 2) : 0.5;
    return int(part * (dots.height() - 1) + 0.5);
  };
  int before_x = place_x(first), before_y = place_y(points.front().y);
  for (const Point& p : points) {
    const int x = place_x(p.x), to = place_y(p.y);
    int from = before_y;
    for (int at = before_x + 1; at <= x; ++at) {
      const int next = before_y + (to - before_y) * (at - before_x) / (x - before_x);
      dots.upright(at, from, next);
      from = next;
    }
    dots.upright(x, from, to);
    before_x = x, before_y = to;
  }
}

/// The character U+2800 + bits in UTF-8.
std::string braille(int bits) {
  return {char(0xe2), char(0xa0 | bits >> 6), char(0x80 | (bits & 0x3f))};
}

std::string line_of(const Dots& dots, int line, Letters letters) {
  std::string text;
  for (int column = 0; column < columns; ++column) {
    if (letters == Letters::ascii) {
      text += dots.at(column, line) ? '*' : ' ';
      continue;
    }
    static constexpr int bit[4][2]{{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    int bits = 0;
    for (int y = 0; y < 4; ++y)
      for (int x = 0; x < 2; ++x)
        if (dots.at(2 * column + x, 4 * line + y)) bits |= bit[y][x];
    text += bits == 0 ? " " : braille(bits);
  }
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

}  // namespace

Letters letters_of_locale() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (!value || !*value) continue;
    const std::string_view locale = value;
    const bool utf8 = locale.find("UTF-8") != locale.npos || locale.find("utf8") != locale.npos ||
                      locale.find("UTF8") != locale.npos || locale.find("utf-8") != locale.npos;
    return utf8 ? Letters::braille : Letters::ascii;
  }
  return Letters::ascii;
}

std::string curve_text(std::span<const Point> points, Letters letters, std::optional<Limits> axis) {
  const bool fine = letters == Letters::braille;
  Dots dots(columns * (fine ? 2 : 1), lines * (fine ? 4 : 1));
  const auto [lowest, highest] = std::ranges::minmax(points, {}, &Point::y);
  const Limits y = axis.value_or(Limits{lowest.y, highest.y});
  draw_curve(points, y, dots);
  std::string text;
  for (int line = 0; line < lines; ++line) {
    const std::string mark = line == 0           ? fmt::format("{:.4g}", y.high)
                             : line == lines - 1 ? fmt::format("{:.4g}", y.low)
                                                 : "";
    text += fmt::format("{:>10} {} {}\n", mark, fine ? "┤" : "|", line_of(dots, line, letters));
  }
  const std::string first = fmt::format("{:.0f}", points.front().x),
                    last = fmt::format("{:.0f}", points.back().x);
  return text + fmt::format("{:>13}{}{:>{}}\n", "", first, last, columns - int(first.size()));
}

}  // namespace sinter::detail::report
