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

TEST_CASE("bounds hold the ratio of two medians, and narrow with the noise") {
  const Run a = run_of(0, 2, 0.1, 40), b = run_of(1, 1, 0.1, 40);
  const Interval ratio = ratio_of_medians(a.wall_ms, b.wall_ms);
  CHECK(ratio.low < 2);
  CHECK(ratio.high > 2);
  CHECK(ratio.high - ratio.low < 0.4);
  const Run c = run_of(0, 2, 0.01, 40), d = run_of(1, 1, 0.01, 40);
  const Interval narrow = ratio_of_medians(c.wall_ms, d.wall_ms);
  CHECK(narrow.high - narrow.low < 0.3 * (ratio.high - ratio.low));
}

TEST_CASE("bounds hold about 95 of 100 times") {
  std::mt19937_64 random(5);
  std::normal_distribution<double> near_one(1, 0.1);
  int held = 0;
  for (int k = 0; k < 200; ++k) {
    std::vector<double> a(32), b(32);
    for (double& x : a) x = near_one(random);
    for (double& x : b) x = near_one(random);
    const Interval ratio = ratio_of_medians(a, b);
    held += ratio.low <= 1 && 1 <= ratio.high;
  }
  CHECK(held >= 180);
  CHECK(held <= 199);
}

TEST_CASE("the order is sure where times lie apart, and not where noise hides it") {
  const auto is_sure = [](double ms, double noise, int steps) {
    Race race({0, 1}, true);
    race.add(run_of(0, 1, noise, steps));
    race.add(run_of(1, ms, noise, steps));
    race.end_round();
    return race.is_sure();
  };
  CHECK(is_sure(1.2, 0.05, 32));
  CHECK(!is_sure(1.05, 0.5, 16));
  CHECK(is_sure(1.001, 0.001, 32));  // as fast as the other
  CHECK(is_sure(1.0, 0.05, 64));     // within 5 % of it
  CHECK(!is_sure(1.0, 0.3, 16));
  CHECK(!is_sure(1.2, 0.05, 4));  // too few steps
}

TEST_CASE("nothing is sure before a row has run, and one row alone is") {
  Race race({0, 1}, true);
  race.add(run_of(0, 1));
  CHECK(!race.is_sure());
  CHECK(Race({7}, true).is_sure());
}

TEST_CASE("each round counts twice the steps of the one before, up to 32 times") {
  CHECK(counted_steps(4, 0) == 4);
  CHECK(counted_steps(4, 2) == 16);
  CHECK(counted_steps(4, 7) == 128);
}

}  // namespace
}  // namespace sinter::detail::testing::race_tests
