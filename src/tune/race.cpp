// SPDX-License-Identifier: Apache-2.0
#include "tune/race.hpp"

#include <algorithm>
#include <random>
#include <utility>

namespace sinter::detail::tune {
namespace {

constexpr double as_fast = 0.05;         // runs of one program differ by as much on a busy machine
constexpr std::size_t steps_decide = 8;  // bounds of fewer are too narrow

std::vector<double> drawn(std::span<const double> values, std::mt19937_64& random) {
  std::vector<double> sample(values.size());
  for (double& one : sample) one = values[random() % values.size()];
  return sample;
}

}  // namespace

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t n = values.size();
  return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

Interval ratio_of_medians(std::span<const double> a, std::span<const double> b) {
  constexpr int draws = 1000;
  std::mt19937_64 random(1);
  std::vector<double> ratios;
  for (int draw = 0; draw < draws; ++draw) {
    const double above = median(drawn(a, random));
    ratios.push_back(above / median(drawn(b, random)));
  }
  std::ranges::sort(ratios);
  return {ratios[draws / 40], ratios[draws - 1 - draws / 40]};
}

void Race::add(const Run& run) {
  if (!run.failure.empty()) {
    std::erase(alive_, run.row);
    return;
  }
  const std::vector<double>& measured = by_wall_ ? run.wall_ms : run.cpu_ms;
  std::vector<double>& all = costs_[run.row];
  all.insert(all.end(), measured.begin(), measured.end());
}

void Race::end_round(bool all_stay) {
  std::ranges::sort(alive_, {}, [&](int row) { return std::pair(cost(row), row); });
  if (alive_.size() > 2 && !all_stay) alive_.resize((alive_.size() + 1) / 2);
}

bool Race::is_sure() const {
  if (alive_.size() <= 1) return true;
  const auto is_known = [&](int row) { return has(row) && costs_.at(row).size() >= steps_decide; };
  if (!std::ranges::all_of(alive_, is_known)) return false;
  const std::vector<double>& best = costs_.at(alive_.front());
  bool all_slower = true, all_alike = true;
  for (std::size_t k = 1; k < alive_.size(); ++k) {
    const Interval ratio = ratio_of_medians(costs_.at(alive_[k]), best);
    all_slower &= ratio.low > 1;
    all_alike &= ratio.low > 1 - as_fast && ratio.high < 1 + as_fast;
  }
  return all_slower || all_alike;
}

}  // namespace sinter::detail::tune
