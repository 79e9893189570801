// SPDX-License-Identifier: Apache-2.0
#include "tune/lr_range.hpp"

#include <algorithm>
#include <cmath>

#include "report/smoothing.hpp"
#include "tune/lr_rise.hpp"

namespace sinter::detail::tune {
namespace {

constexpr int usual_steps = 100;
constexpr double too_high = 4;  // times the lowest average

/// The weight with which an average covers about a twentieth of the steps; at most fast.ai's.
double weight_of(int steps) { return std::clamp(1 - 20. / steps, 0., 0.98); }

std::vector<report::Point> averages_of(std::span<const report::Row> rows, int steps) {
  std::vector<report::Mean> losses;
  for (const report::Row& row : rows) losses.push_back({double(row.step), row.loss, 1});
  return report::smoothed(losses, weight_of(steps));
}

std::optional<std::size_t> steepest_of(const std::vector<LrStep>& steps, std::size_t first) {
  std::optional<std::size_t> steepest;
  double least = 0;
  for (std::size_t k = first; k + 1 < steps.size(); ++k) {
    const LrStep &before = steps[k - 1], &after = steps[k + 1];
    const double slope = (after.average - before.average) / std::log(after.rate / before.rate);
    if (slope < least) least = slope, steepest = k;
  }
  return steepest;
}

}  // namespace

NumberRange lr_range_in(const std::string& text) {
  NumberRange rates = number_range_of("--lr-range", text, Range().above(0), least_lr_steps);
  if (rates.count == 0) rates.count = usual_steps;
  return rates;
}

LrRange lr_range_of(std::span<const report::Row> rows, const NumberRange& rates) {
  LrRange range;
  const std::vector<report::Point> averages = averages_of(rows, rates.count);
  for (std::size_t k = 0; k < rows.size() && !range.has_diverged; ++k) {
    const double average = averages[k].y;
    range.has_diverged = !std::isfinite(average);
    if (range.has_diverged) break;
    const double rate = risen(rates.low, rates.high, rates.count, rows[k].step);
    range.steps.push_back({rows[k].step, rate, rows[k].loss, average});
    if (!range.lowest || average < range.steps[*range.lowest].average) range.lowest = k;
    const double lowest = range.steps[*range.lowest].average;
    range.has_diverged = average > lowest + (too_high - 1) * std::abs(lowest);  // it may be below 0
  }
  range.steepest = steepest_of(range.steps, first_lr_step(rates));
  return range;
}

}  // namespace sinter::detail::tune
