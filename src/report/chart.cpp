// SPDX-License-Identifier: Apache-2.0
#include "report/chart.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace sinter::detail::report {
namespace {

// Okabe and Ito's colours, which colour-blind readers can distinguish, without yellow and black.
constexpr std::array<std::string_view, 6> palette{"#0072b2", "#d55e00", "#009e73",
                                                  "#cc79a7", "#e69f00", "#56b4e9"};

/// The numbers that an axis shows.
struct Axis {
  double low = std::numeric_limits<double>::max(), high = -low;
  std::vector<double> marks;

  void include(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  /// Widens it to round numbers, and so that it has a length.
  void round(int count, bool outwards) {
    if (low == high) {
      const double around = low == 0 ? 1 : std::abs(low) / 10;
      low -= around, high += around;
    }
    marks = ticks(low, high, count);
    constexpr double most = std::numeric_limits<double>::max();
    if (outwards) {
      low = std::clamp(marks.front(), -most, low);
      high = std::clamp(marks.back(), high, most);
    }
    std::erase_if(marks, [&](double mark) { return mark < low || mark > high; });
  }
  /// The place of a value, from 0 to 1. (Halves keep the largest numbers finite.)
  double at(double value) const { return (value / 2 - low / 2) / (high / 2 - low / 2); }
};

constexpr double width = 640, height = 280, left = 70, right = 12, top = 12, bottom = 40;

double x_of(const Axis& axis, double value) {
  return left + axis.at(value) * (width - left - right);
}
double y_of(const Axis& axis, double value) {
  return height - bottom - axis.at(value) * (height - top - bottom);
}

std::string svg_curve(const Curve& curve, const Axis& x, const Axis& y) {
  std::string points, marks;
  for (const Point& p : curve.points) {
    points += fmt::format("{:.1f},{:.1f} ", x_of(x, p.x), y_of(y, p.y));
    if (curve.marks)
      marks += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.5\" fill=\"{}\"/>",
                           x_of(x, p.x), y_of(y, p.y), colour(curve.colour));
  }
  return fmt::format(
      "<polyline fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" stroke-dasharray=\"{}\" "
      "points=\"{}\"/>{}\n",
      colour(curve.colour), curve.marks ? 2 : 1, fmt::join(dashes(curve.colour), " "), points,
      marks);
}

}  // namespace

bool Chart::empty() const {
  return std::ranges::all_of(curves, [](const Curve& curve) { return curve.points.empty(); });
}

std::vector<Point> thinned(std::span<const Point> points, std::size_t most) {
  if (points.size() <= most) return {points.begin(), points.end()};
  std::vector<Point> kept{points.front()};
  const std::span inner = points.subspan(1, points.size() - 2);
  const std::size_t stretches = (most - 2) / 2;
  for (std::size_t k = 0; k < stretches; ++k) {
    const std::size_t begin = inner.size() * k / stretches,
                      end = inner.size() * (k + 1) / stretches;
    auto [low, high] =
        std::ranges::minmax_element(inner.subspan(begin, end - begin), {}, &Point::y);
    if (high < low) std::swap(low, high);
    kept.push_back(*low);
    if (low != high) kept.push_back(*high);
  }
  kept.push_back(points.back());
  return kept;
}

std::string_view colour(int number) { return palette[std::size_t(number) % palette.size()]; }

std::vector<int> dashes(int number) {
  const int lap = number / int(palette.size());
  if (lap == 0) return {};
  return {2 * (1 + (lap - 1) % 4), 2 + (lap - 1) / 4};
}

std::vector<double> ticks(double low, double high, int count) {
  const double rough = (high / count - low / count);
  const double power = std::pow(10, std::floor(std::log10(rough)));
  double step = power;
  for (double factor : {1., 2., 5., 10.})
    if (step = factor * power; step >= rough) break;
  std::vector<double> marks;
  const double first = std::floor(low / step);
  if (!std::isfinite(first) || std::abs(first) > 1e15)
    return {low, high};  // too near to each other
  for (int k = 0; marks.empty() || (marks.back() < high && k <= 2 * count + 2); ++k)
    marks.push_back((first + k) * step);
  return marks;
}

std::string svg_of(const Chart& chart) {
  Axis x, y;
  for (const Curve& curve : chart.curves)
    for (const Point& p : curve.points) x.include(p.x), y.include(p.y);
  if (chart.from_zero) y.include(0);
  x.round(6, false);
  y.round(5, true);
  std::string svg = fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n",
                                width, height, escaped(chart.title));
  for (double mark : y.marks)
    svg += fmt::format(
        "<line x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\" class=\"grid\"/>"
        "<text x=\"{3}\" y=\"{4:.1f}\" text-anchor=\"end\">{5:.6g}</text>\n",
        left, width - right, y_of(y, mark), left - 6, y_of(y, mark) + 4, mark);
  for (double mark : x.marks)
    svg += fmt::format(
        "<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\" class=\"grid\"/>"
        "<text x=\"{0:.1f}\" y=\"{3}\" text-anchor=\"middle\">{4:.6g}</text>\n",
        x_of(x, mark), top, height - bottom, height - bottom + 16, mark);
  svg += fmt::format(
      "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>"
      "<text transform=\"translate(12,{}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
      (left + width - right) / 2, height - 6, escaped(chart.x), (top + height - bottom) / 2,
      escaped(chart.y));
  for (const Curve& curve : chart.curves) svg += svg_curve(curve, x, y);
  svg += "</svg>\n<ul class=\"legend\">";
  for (const Curve& curve : chart.curves)
    svg += fmt::format("<li><span style=\"background:{}\"></span>{}</li>", colour(curve.colour),
                       escaped(curve.name));
  return svg + "</ul>\n";
}

nlohmann::ordered_json json_of(const Chart& chart) {
  nlohmann::ordered_json json{
      {"title", chart.title}, {"x", chart.x}, {"y", chart.y}, {"from_zero", chart.from_zero}};
  json["curves"] = nlohmann::ordered_json::array();
  for (const Curve& curve : chart.curves) {
    nlohmann::ordered_json points = nlohmann::ordered_json::array();
    for (const Point& p : curve.points) points.push_back({{"x", p.x}, {"y", p.y}});
    json["curves"].push_back({{"name", curve.name},
                              {"colour", colour(curve.colour)},
                              {"dashes", dashes(curve.colour)},
                              {"marks", curve.marks},
                              {"points", std::move(points)}});
  }
  return json;
}

std::string escaped(std::string_view text) {
  std::string result;
  for (char letter : text) switch (letter) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        result += letter;
    }
  return result;
}

}  // namespace sinter::detail::report
