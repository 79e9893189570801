// SPDX-License-Identifier: Apache-2.0
// How sure and how cheap a race is, on machines that are made up: processes differ, steps within one are
// more alike, and all slow down together for a while.
#include <doctest/doctest.h>

#include <cmath>
#include <numeric>
#include <random>

#include "tune/arms.hpp"
#include "tune/race.hpp"

namespace sinter::detail::testing::race_simulation_tests {
namespace {
using namespace tune;

constexpr int first_steps = 8, most_arms = 12;

/// Numbers of 24 rows: two precisions, three memory policies, four micro-batches.
struct Places {
  std::size_t precision, memory, batch;
};
Places places_of(int row) {
  return {std::size_t(row / 12), std::size_t(row / 4 % 3), std::size_t(row % 4)};
}
Grid grid_of_24() {
  Grid grid{"mine", {"precision", "memory", "batch"}, {}};
  for (int row = 0; row < 24; ++row) {
    const Places at = places_of(row);
    Row& made = grid.rows.emplace_back();
    made.policies = {"p" + std::to_string(at.precision), "m" + std::to_string(at.memory),
                     "b" + std::to_string(at.batch)};
    for (const std::string& policy : made.policies)
      if (!policy.ends_with('0')) made.changed.push_back(policy);
    made.arena = 100 - std::int64_t(10 * at.memory + at.batch);
  }
  return grid;
}

/// A machine on which each policy changes the time of a step by a factor, each combination by a little
/// more, and steps of a run by up to `noise`, a standard deviation.
class Machine {
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_{};
  double noise_, slow_ = 0;
  std::vector<double> costs_{};

 public:
  int steps = 0;  ///< that were run

  Machine(std::uint64_t seed, double noise) : random_(seed), noise_(noise) {
    const double other_precision[] = {0.7, 0.95, 1, 1.02, 1.3};
    const double precision[] = {1, other_precision[random_() % 5]};
    const double memory[] = {1, std::exp(std::abs(normal_(random_)) * 0.08),
                             1.1 * std::exp(std::abs(normal_(random_)) * 0.15)};
    double batch[] = {1, 1, 1, 1};
    for (double& factor : batch) factor = std::exp(normal_(random_) * 0.08);
    for (int row = 0; row < 24; ++row) {
      const Places at = places_of(row);
      costs_.push_back(100 * precision[at.precision] * memory[at.memory] * batch[at.batch] *
                       std::exp(normal_(random_) * 0.02));
    }
  }

  /// How much more time a row takes than the fastest, as a ratio.
  double behind(int row) const {
    return costs_[std::size_t(row)] / *std::ranges::min_element(costs_);
  }
  /// A process whose steps are each 0.7 alike to the one before.
  Run run(int row, int count) {
    steps += count;
    slow_ = 0.8 * slow_ + 0.3 * noise_ * normal_(random_);
    const double process = 0.2 * noise_ * normal_(random_);
    Run run{.row = row};
    double of_step = normal_(random_);
    for (int k = 0; k < count; ++k) {
      of_step = 0.7 * of_step + std::sqrt(1 - 0.7 * 0.7) * normal_(random_);
      run.cpu_ms.push_back(costs_[std::size_t(row)] * std::exp(slow_ + process + noise_ * of_step));
    }
    run.wall_ms = run.cpu_ms;
    return run;
  }
};

/// What a race has found, and in how many rounds.
struct Found {
  int row, rounds;
};
/// A race as ./sinter tune runs it.
Found race_on(Machine& machine, const Grid& grid) {
  std::vector<int> rows = first_arms(grid, {}, most_arms);
  std::map<int, Run> first_round;
  std::map<int, double> costs;
  const auto run_first = [&](int row) {
    first_round[row] = machine.run(row, first_steps);
    costs[row] = median(first_round[row].cpu_ms);
  };
  for (const int row : rows) run_first(row);
  for (const int row : forecast_arms(grid, {}, costs, {}, most_arms - int(rows.size()))) {
    run_first(row);
    rows.push_back(row);
  }
  Race race(rows, false);
  int rounds = 0;
  run_rounds(race, 8, false, [&](int round) {
    ++rounds;
    for (const int row : std::vector(race.alive()))
      race.add(round == 0 ? first_round[row] : machine.run(row, counted_steps(first_steps, round)));
    return true;
  });
  return {race.alive().front(), rounds};
}
/// The fastest of all rows in so many rounds.
int best_on(Machine& machine, const Grid& grid, int rounds) {
  Race race(rows_that_fit(grid, {}), false);
  run_rounds(race, rounds, true, [&](int round) {
    for (const int row : std::vector(race.alive()))
      race.add(machine.run(row, counted_steps(first_steps, round)));
    return true;
  });
  return race.alive().front();
}

/// Of 200 machines: how often a race finds a row within 5 % of the fastest, and all rows in as many
/// rounds do, three at least; and the steps of both.
struct Compared {
  int races = 0, all = 0;
  double race_steps = 0, all_steps = 0;
};
Compared compared(double noise) {
  const Grid grid = grid_of_24();
  Compared sums;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Machine one(seed, noise), other(seed, noise);
    const Found found = race_on(one, grid);
    sums.races += one.behind(found.row) <= 1.05;
    sums.all += other.behind(best_on(other, grid, std::max(found.rounds, 3))) <= 1.05;
    sums.race_steps += one.steps;
    sums.all_steps += other.steps;
  }
  MESSAGE("noise ", noise, ": within 5 %: ", sums.races, ", and of all rows ", sums.all,
          "; steps 1/", sums.all_steps / sums.race_steps);
  return sums;
}

TEST_CASE("a race of 24 rows finds one within 5 % of the fastest, at a fifth of the steps of all") {
  const Compared sums = compared(0.05);
  CHECK(sums.races >= 190);
  CHECK(5 * sums.race_steps <= sums.all_steps);
}

TEST_CASE("where noise hides the fastest, a race is nearly as often near as all rows are") {
  for (const double noise : {0.1, 0.2}) {
    const Compared sums = compared(noise);
    CHECK(sums.races >= 0.9 * sums.all);
    CHECK(5 * sums.race_steps <= sums.all_steps);
  }
}

}  // namespace
}  // namespace sinter::detail::testing::race_simulation_tests
