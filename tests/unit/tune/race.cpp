// SPDX-License-Identifier: Apache-2.0
// Which combination a race finds, from made-up times.
#include "tune/race.hpp"

#include <doctest/doctest.h>

#include <random>

namespace sinter::detail::testing::race_tests {
namespace {
using namespace tune;

/// A process whose steps take around `ms`, with some noise; its processor time is twice that.
Run run_of(int row, double ms, double noise = 0, int steps = 16) {
  std::mt19937_64 random(std::uint64_t(row) * 1000 + std::uint64_t(steps));
  std::uniform_real_distribution<double> around(1 - noise, 1 + noise);
  Run run{.row = row};
  for (int k = 0; k < steps; ++k) {
    run.wall_ms.push_back(ms * around(random));
    run.cpu_ms.push_back(2 * run.wall_ms.back());
  }
  return run;
}

TEST_CASE("the median is the middle, or the mean of the two in the middle") {
  CHECK(median({3, 1, 2}) == 2);
  CHECK(median({4, 1, 2, 9}) == 3);
  CHECK(median({5}) == 5);
}

TEST_CASE("the slower half leaves in each round, and two stay") {
  Race race({0, 1, 2, 3, 4}, true);
  for (const int row : {0, 1, 2, 3, 4}) race.add(run_of(row, 10 - row));
  race.end_round();
  CHECK(race.alive() == std::vector{4, 3, 2});
  race.end_round();
  CHECK(race.alive() == std::vector{4, 3});
  race.end_round();
  CHECK(race.alive() == std::vector{4, 3});
}

TEST_CASE("rows are compared by what the race compares") {
  Run busy = run_of(0, 4), idle = run_of(1, 5);
  for (double& ms : idle.cpu_ms) ms = 1;
  for (const bool by_wall : {true, false}) {
    Race race({0, 1}, by_wall);
    race.add(busy);
    race.add(idle);
    race.end_round();
    CHECK(race.alive().front() == (by_wall ? 0 : 1));
  }
}

TEST_CASE("a row that fails leaves") {
  Race race({0, 1, 2}, true);
  Run failed{.row = 1};
  failed.failure = "no memory";
  race.add(run_of(0, 1));
  race.add(failed);
  race.add(run_of(2, 2));
  race.end_round();
  CHECK(race.alive() == std::vector{0, 2});
  CHECK(!race.has(1));
}

TEST_CASE("all rounds of a row count together") {
  Race race({0, 1}, true);
  race.add(run_of(0, 1, 0, 4));
  race.add(run_of(0, 3, 0, 12));
  CHECK(race.cost(0) == 3);
}

/// How many of 50 races of two rows are sure after so many rounds. Processes differ by up to `noise`, steps
/// of one do not.
int sure_after(int rounds, double second, double noise) {
  int sure = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Race race({0, 1}, true);
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> around(1 - noise, 1 + noise);
    for (int round = 0; round < rounds; ++round) {
      race.add(run_of(0, around(random)));
      race.add(run_of(1, second * around(random)));
      race.end_round(true);
    }
    sure += race.is_sure();
  }
  return sure;
}

TEST_CASE(
    "the order is sure where the first can hardly be behind, and not where processes differ") {
  CHECK(sure_after(3, 1.3, 0.02) == 50);
  CHECK(sure_after(3, 1.0, 0.002) == 50);  // as fast as the other
  CHECK(sure_after(3, 1.0, 0.2) <= 10);
  CHECK(sure_after(1, 2.0, 0) == 0);  // nothing says how much processes differ
  CHECK(sure_after(2, 2.0, 0) == 50);
}

TEST_CASE("a machine that is slow in one round slows no row beside another") {
  Race race({0, 1}, true);
  for (const double slow : {1.0, 3.0, 1.5, 2.0}) {
    race.add(run_of(0, slow * 1.1));
    race.add(run_of(1, slow));
    race.end_round(true);
  }
  CHECK(race.alive().front() == 1);
  CHECK(race.is_sure());
}

TEST_CASE("rows that surely gain nothing over the first leave, also from the faster half") {
  Race race({0, 1, 2, 3, 4, 5, 6, 7}, true);
  const double ms[] = {1, 1.01, 1.3, 1.3, 2, 2, 2, 2};
  const auto run_all = [&](double of_first) {
    for (const int row : std::vector(race.alive()))
      race.add(run_of(row, ms[row] * (row == 0 ? of_first : 1)));
    race.end_round();
  };
  run_all(1.04);
  CHECK(race.alive() == std::vector{1, 0, 2, 3});
  run_all(0.96);
  CHECK(race.alive() == std::vector{0, 1});
  CHECK(!race.is_sure());
}

TEST_CASE("of rows that are sure to be alike, the first alone goes on") {
  Race race({0, 1, 2}, true);
  for (int round = 0; round < 2; ++round) {
    for (const int row : std::vector(race.alive())) race.add(run_of(row, 1 + 0.01 * row));
    race.end_round();
  }
  CHECK(race.alive() == std::vector{0});
  CHECK(race.is_sure());
}

TEST_CASE("rounds end when a race is sure, when it must stop, or all of them where rows stay") {
  const auto rounds_of = [](int most, bool all_stay, int stop) {
    Race race({0, 1, 2}, true);
    int rounds = 0;
    const bool is_whole = run_rounds(race, most, all_stay, [&](int round) {
      if (round == stop) return false;
      ++rounds;
      for (const int row : std::vector(race.alive())) race.add(run_of(row, 1 + row));
      return true;
    });
    CHECK(is_whole == (stop < 0));
    return rounds;
  };
  CHECK(rounds_of(8, false, -1) == 2);
  CHECK(rounds_of(5, true, -1) == 5);
  CHECK(rounds_of(1, false, -1) == 1);
  CHECK(rounds_of(8, false, 1) == 1);
}

TEST_CASE("nothing is sure before a row has run, and one row alone is") {
  Race race({0, 1}, true);
  race.add(run_of(0, 1));
  CHECK(!race.is_sure());
  CHECK(Race({7}, true).is_sure());
}

TEST_CASE("each round counts twice the steps of the one before, up to 4 times") {
  CHECK(counted_steps(4, 0) == 4);
  CHECK(counted_steps(4, 1) == 8);
  CHECK(counted_steps(4, 7) == 16);
}

}  // namespace
}  // namespace sinter::detail::testing::race_tests
