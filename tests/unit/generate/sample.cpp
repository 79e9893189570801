// SPDX-License-Identifier: Apache-2.0
// Drawing a token.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include "sinter/error.hpp"
#include "sinter/generate/generate.hpp"

using namespace sinter;
using namespace sinter::detail;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
const std::vector<float> logits{0.5f, 2.0f, -1.0f, 2.0f, -infinity, 1.0f};

std::map<int, double> shares(SamplingOptions options, int draws = 40'000) {
  std::map<int, double> counts;
  for (int p = 0; p < draws; ++p) counts[sample(logits, options, std::uint64_t(p))] += 1. / draws;
  return counts;
}

}  // namespace

TEST_CASE("temperature 0 takes the likeliest, the lower of equals") {
  for (std::uint64_t seed : {0, 1, 2}) CHECK(sample(logits, {0, 0, seed}, 9) == 1);
  auto only = shares({1, 1, 5}, 100);
  CHECK((only.size() == 1 && only.contains(1)));
}

TEST_CASE("tokens come as often as the softmax says") {
  for (double temperature : {0.5, 1.0, 3.0}) {
    double total = 0;
    for (float l : logits) total += std::exp(l / temperature);
    auto counts = shares({temperature, 0, 11});
    CHECK(!counts.contains(4));
    for (int token : {0, 1, 2, 3, 5})
      CHECK(counts[token] ==
            doctest::Approx(std::exp(logits[token] / temperature) / total).epsilon(0.01).scale(1));
  }
}

TEST_CASE("top-k keeps the k likeliest") {
  auto counts = shares({1, 3, 4});
  CHECK(counts.size() == 3);
  CHECK((counts.contains(1) && counts.contains(3) && counts.contains(5)));
  CHECK(shares({1, 100, 4}) == shares({1, 0, 4}));
}

TEST_CASE("a draw depends on seed and position alone") {
  std::vector<int> first, again, other;
  for (std::uint64_t p = 0; p < 100; ++p) first.push_back(sample(logits, {1, 0, 7}, p));
  for (std::uint64_t p = 100; p-- > 0;) again.insert(again.begin(), sample(logits, {1, 0, 7}, p));
  for (std::uint64_t p = 0; p < 100; ++p) other.push_back(sample(logits, {1, 0, 8}, p));
  CHECK(first == again);
  CHECK(first != other);
}

TEST_CASE("a tiny temperature does not overflow") {
  CHECK(sample(std::vector<float>{1, 3e38f, -3e38f}, {1e-300, 0, 1}, 0) == 1);
}

TEST_CASE("logits that cannot be drawn from are refused") {
  float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK_THROWS_AS(sample(std::vector<float>{0, nan}, {}, 0), NonFiniteError);
  CHECK_THROWS_AS(sample(std::vector<float>{0, infinity}, {0, 0, 0}, 0), NonFiniteError);
  CHECK_THROWS_AS(sample(std::vector<float>{-infinity, -infinity}, {}, 0), NonFiniteError);
  CHECK_THROWS_AS(sample({}, {}, 0), NonFiniteError);
  CHECK_THROWS_AS(sample(logits, {-1, 0, 0}, 0), ArgumentError);
  CHECK_THROWS_AS(sample(logits, {nan, 0, 0}, 0), ArgumentError);
  CHECK_THROWS_AS(sample(logits, {1, -1, 0}, 0), ArgumentError);
}
