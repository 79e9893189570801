// SPDX-License-Identifier: Apache-2.0
#include "report/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

namespace sinter::detail::report {
namespace {

// Okabe and Ito's colours, which colour-blind readers can distinguish, without yellow and black.
constexpr std::array<std::string_view, 6> palette{"#0072b2", "#d55e00", "#009e73",
                                                  "#cc79a7", "#e69f00", "#56b4e9"};

// The same, darker.
constexpr std::array<std::string_view, 6> shades{"#00304d", "#7a2e00", "#00523b",
                                                 "#7d2f5c", "#8a5c00", "#1c5a80"};

/// A number with six digits.
double short_number(double value) {
  return std::isfinite(value) ? std::strtod(fmt::format("{:.6g}", value).c_str(), nullptr) : value;
}

/// A range of y that is drawn, or null.
nlohmann::ordered_json json_of(const std::optional<Limits>& range) {
  if (!range) return nullptr;
  return {{"low", range->low}, {"high", range->high}};
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

std::string_view colour(int number, bool dark) {
  return (dark ? shades : palette)[std::size_t(number) % palette.size()];
}

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

nlohmann::ordered_json json_of(const Chart& chart) {
  using Json = nlohmann::ordered_json;
  Json json{{"title", chart.title},
            {"x", chart.x},
            {"y", chart.y},
            {"from_zero", chart.from_zero},
            {"axis", json_of(chart.axis)}};
  json["names"] = json["briefly"] = Json::array();
  for (const Name& name : chart.names) {
    json["names"].push_back(name.full);
    json["briefly"].push_back(name.brief);
  }
  json["curves"] = Json::array();
  for (const Curve& curve : chart.curves) {
    Json points = Json::array(), means = Json::array();
    for (const Point& p : curve.points) points.push_back({{"x", p.x}, {"y", short_number(p.y)}});
    for (const Mean& m : curve.means)
      means.push_back(Json::array({m.x, short_number(m.y), m.values}));
    json["curves"].push_back({{"name", curve.name},
                              {"colour", colour(curve.colour, curve.dark)},
                              {"dashes", dashes(curve.colour)},
                              {"marks", curve.marks},
                              {"points", std::move(points)},
                              {"means", std::move(means)}});
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
