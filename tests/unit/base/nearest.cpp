// SPDX-License-Identifier: Apache-2.0
#include "base/nearest.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string>

using sinter::detail::nearest;

TEST_CASE("the nearest word is found") {
  std::array<std::string_view, 6> words{"--steps", "--save-every",   "--seed",
                                        "--json",  "--optimizer.lr", "--schedule.steps"};
  CHECK(nearest("--stps", words) == "--steps");
  CHECK(nearest("--setps", words) == "--steps");
  CHECK(nearest("--sed", words) == "--seed");
  CHECK(nearest("--save", words) == "--save-every");
  CHECK(nearest("--optimizer.", words) == "--optimizer.lr");
  CHECK(nearest("--optimiser-lr", words) == "--optimizer.lr");
  CHECK(nearest("--step", words) == "--steps");
  CHECK(nearest("-", words) == "--seed");
  CHECK(nearest("", words) == "--seed");
  CHECK(nearest(std::string(100'000, 'x'), words).starts_with("--"));
}
