// SPDX-License-Identifier: Apache-2.0
#include "tune/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "tune/number_range.hpp"

namespace sinter::detail::tune {
namespace {

constexpr std::size_t most_points = 1000;
const std::string flag = "--sweep";

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts{""};
  for (const char letter : text)
    if (letter == at)
      parts.emplace_back();
    else
      parts.back() += letter;
  return parts;
}

/// A value within a range, 0 <= part <= 1 of the way from its low end.
std::string value_at(const Swept& s, double part) {
  const double value =
      s.low > 0 ? s.low * std::pow(s.high / s.low, part) : s.low + part * (s.high - s.low);
  return s.is_whole ? fmt::format("{:.0f}", value) : fmt::format("{:.4g}", value);
}

}  // namespace

Swept swept_of(const std::string& text) {
  const std::size_t equals = text.find('='), dot = text.find('.');
  if (equals == text.npos || dot > equals)
    throw cli::UsageError(fmt::format(
        "{} takes SLOT.OPTION=VALUES, such as optimizer.lr=1e-4..1e-2:6 or schedule.warmup=0,100, "
        "not '{}'.",
        flag, text));
  Swept swept{text.substr(0, equals)};
  const std::string values = text.substr(equals + 1);
  if (values.find("..") != values.npos) {
    const NumberRange range = number_range_of(flag, values, Range(), 2);
    swept.low = range.low, swept.high = range.high, swept.count = range.count;
    return swept;
  }
  swept.words = split(values, ',');
  for (const std::string& word : swept.words) {
    if (word != "true" && word != "false") (void)cli::number_of<double>(flag, word, Range());
    if (std::ranges::count(swept.words, word) > 1)
      throw cli::UsageError(fmt::format("{} has the value {} twice: '{}'.", flag, word, text));
  }
  return swept;
}

std::vector<std::string> grid_values(const Swept& s) {
  if (!s.words.empty()) return s.words;
  if (s.count == 0)
    throw cli::UsageError(fmt::format(
        "{} {} has no count of values. Write {}=LOW..HIGH:COUNT, or draw at random by --trials N.",
        flag, s.option, s.option));
  std::vector<std::string> values;
  for (int k = 0; k < s.count; ++k) {
    const std::string value = value_at(s, double(k) / (s.count - 1));
    if (values.empty() || values.back() != value) values.push_back(value);
  }
  return values;
}

std::vector<Point> grid_points(const std::vector<Swept>& options) {
  std::vector<Point> points{{}};
  for (const Swept& option : options) {
    const std::vector<std::string> values = grid_values(option);
    std::vector<Point> longer;
    for (const Point& point : points)
      for (const std::string& value : values) {
        longer.push_back(point);
        longer.back().push_back(value);
      }
    points = std::move(longer);
    if (points.size() > most_points)
      throw cli::UsageError(fmt::format(
          "{} makes more than {} combinations. Give fewer values, or draw some at random by "
          "--trials N.",
          flag, most_points));
  }
  return points;
}

std::vector<Point> random_points(const std::vector<Swept>& options, int count, std::uint64_t seed) {
  constexpr int most_misses = 1000;
  std::mt19937_64 random(seed);
  const auto part = [&] { return double(random() >> 11) * 0x1p-53; };  // the same on all platforms
  std::vector<Point> lists, points;  // no values: any of the range
  for (const Swept& option : options) {
    const bool is_list = !option.words.empty() || option.count > 0;
    lists.push_back(is_list ? grid_values(option) : Point());
  }
  for (int misses = 0; int(points.size()) < count && misses < most_misses;) {
    Point point;
    for (std::size_t k = 0; k < options.size(); ++k) {
      const double at = part();
      point.push_back(lists[k].empty() ? value_at(options[k], at)
                                       : lists[k][std::size_t(at * double(lists[k].size()))]);
    }
    const bool is_new = std::ranges::find(points, point) == points.end();
    if (is_new) points.push_back(std::move(point));
    misses = is_new ? 0 : misses + 1;
  }
  return points;
}

}  // namespace sinter::detail::tune
