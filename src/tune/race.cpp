// SPDX-License-Identifier: Apache-2.0
#include "tune/race.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace sinter::detail::tune {
namespace {

const double as_fast = std::log(1.05);  // runs of one program differ by as much on a busy machine
constexpr double process_steps = 8;     // whose noise is about that of a process

/// What the magnitude of Student's t exceeds in 5 of 100 cases.
double student_t(int freedom) {
  constexpr double few[] = {12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23};
  return freedom <= int(std::size(few)) ? few[freedom - 1] : 1.96 + 2.5 / freedom;
}

}  // namespace

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t n = values.size();
  return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

void Race::add(const Run& run) {
  if (!run.failure.empty()) {
    std::erase(alive_, run.row);
    return;
  }
  const std::vector<double>& measured = by_wall_ ? run.wall_ms : run.cpu_ms;
  const double steps = double(measured.size());
  runs_[run.row].push_back(
      {std::log(std::max(median(measured), 1e-9)), steps / (steps + process_steps)});
  std::vector<double>& all = costs_[run.row];
  all.insert(all.end(), measured.begin(), measured.end());
}

Race::Ratio Race::ratio(int row, int other) const {
  const std::vector<Measured>&a = runs_.at(row), &b = runs_.at(other);
  Ratio found{.rounds = int(std::min(a.size(), b.size()))};
  const auto each = [&](auto&& use) {
    for (std::size_t k = 0; k < std::size_t(found.rounds); ++k)
      use(a[k].log_cost - b[k].log_cost, std::min(a[k].weight, b[k].weight));
  };
  each([&](double log, double weight) {
    found.weight += weight;
    found.mean += weight * log;
  });
  found.mean /= found.weight;
  each([&](double log, double weight) {
    found.squares += weight * (log - found.mean) * (log - found.mean);
  });
  return found;
}

bool Race::is_near_the_first(int row) const {
  const int first = alive_.front();
  double squares = 0;
  int freedom = 0;
  for (const auto& [other, runs] : runs_) {
    if (other == first) continue;
    const Ratio to_first = ratio(first, other);
    squares += to_first.squares;
    freedom += to_first.rounds - 1;
  }
  if (freedom == 0) return false;
  const Ratio behind = ratio(first, row);
  const double error = std::sqrt(squares / freedom / behind.weight);
  return behind.mean + student_t(freedom) * error < as_fast;
}

void Race::end_round(bool all_stay) {
  if (alive_.empty()) return;
  const int any = alive_.front();
  std::ranges::sort(alive_, {}, [&](int row) { return std::pair(ratio(row, any).mean, row); });
  if (all_stay) return;
  const int first = alive_.front();
  std::erase_if(alive_, [&](int row) { return row != first && is_near_the_first(row); });
  if (alive_.size() > 2) alive_.resize((alive_.size() + 1) / 2);
}

bool Race::is_sure() const {
  if (alive_.size() <= 1) return true;
  const auto is_decided = [&](int row) { return has(row) && is_near_the_first(row); };
  return has(alive_.front()) && std::all_of(alive_.begin() + 1, alive_.end(), is_decided);
}

bool run_rounds(Race& race, int most, bool all_stay, const std::function<bool(int)>& run_round) {
  for (int round = 0; round < most; ++round) {
    if (round > 0 && !all_stay && race.is_sure()) break;
    if (!run_round(round)) return false;
    race.end_round(all_stay);
  }
  return true;
}

}  // namespace sinter::detail::tune
