// SPDX-License-Identifier: Apache-2.0
#include "kernels/fastest.hpp"

#include <doctest/doctest.h>

#include <vector>

using sinter::kernel::fastest;

namespace {

constexpr double never = std::numeric_limits<double>::infinity();

/// Candidates whose runs take these times, one after the other.
struct Played {
  std::vector<std::vector<double>> times;
  std::vector<int> runs = std::vector<int>(times.size());

  int best(int measurements) {
    return fastest(int(times.size()), measurements,
                   [&](int k) { return times.at(k).at(runs.at(k)++); });
  }
};

}  // namespace

TEST_CASE("the candidate with the least median is chosen, whatever its first run took") {
  Played played{{{1, 5, 5, 5}, {9, 4, 4, 4}, {1, 6, 6, 6}}};
  CHECK(played.best(3) == 1);
  CHECK(played.runs == std::vector<int>{4, 4, 4});
  CHECK(Played{{{1, 5, 5, 5}, {1, 1, 6, 6}, {1, 4, 99, 4}}}.best(3) == 2);
}

TEST_CASE("of candidates that take the same time, the first is chosen") {
  CHECK(Played{{{1, 5}, {1, 4}, {1, 4}}}.best(1) == 1);
}

TEST_CASE("a candidate that cannot run is tried once and never chosen") {
  Played played{{{never}, {1, 5, 5, 5}, {never}}};
  CHECK(played.best(3) == 1);
  CHECK(played.runs == std::vector<int>{1, 4, 1});
  CHECK(Played{{{never}, {never}}}.best(3) == -1);
  CHECK(Played{}.best(3) == -1);
}
