// SPDX-License-Identifier: Apache-2.0
// Drawing a token.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <map>
#include <set>
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

TEST_CASE("top-k keeps all that are as likely as the k-th") {
  auto counts = shares({1, 1, 4});
  CHECK(counts.size() == 2);
  CHECK(counts[1] == doctest::Approx(.5).epsilon(.02));
}

TEST_CASE("top-p keeps the likeliest until they reach it") {
  const std::vector<float> quarters{std::log(.5f), std::log(.25f), std::log(.125f),
                                    std::log(.125f)};
  const auto kept = [&](double p) {
    std::set<int> drawn;
    for (std::uint64_t at = 0; at < 2000; ++at)
      drawn.insert(sample(quarters, {.temperature = 1, .seed = 3, .top_p = p}, at));
    return drawn;
  };
  CHECK(kept(.1) == std::set{0});
  CHECK(kept(.49) == std::set{0});
  CHECK(kept(.51) == std::set{0, 1});
  CHECK(kept(.74) == std::set{0, 1});
  CHECK(kept(.76) == std::set{0, 1, 2});
  CHECK(kept(.9) == std::set{0, 1, 2, 3});
  CHECK(kept(1) == std::set{0, 1, 2, 3});
}

TEST_CASE("min-p keeps what is likely beside the likeliest") {
  CHECK(shares({.temperature = 1, .seed = 2, .min_p = .3}, 4000).size() == 3);   // 1, 3 and 5
  CHECK(shares({.temperature = 1, .seed = 2, .min_p = .5}, 4000).size() == 2);   // 1 and 3
  CHECK(shares({.temperature = 1, .seed = 2, .min_p = .01}, 4000).size() == 5);  // not 4
}

TEST_CASE("typical-p keeps what surprises as much as the mean, as transformers") {
  // Probabilities 0.5, 0.2, 0.2, 0.1 have an entropy of 1.221 nats, and distances to it of 0.527,
  // 0.389, 0.389 and 1.082. So the two of 0.2 come first, then 0.5, then 0.1.
  const std::vector<float> some{std::log(.5f), std::log(.2f), std::log(.2f), std::log(.1f)};
  const auto kept = [&](double p) {
    std::set<int> drawn;
    for (std::uint64_t at = 0; at < 2000; ++at)
      drawn.insert(sample(some, {.temperature = 1, .seed = 3, .typical_p = p}, at));
    return drawn;
  };
  CHECK(kept(.1) == std::set{1, 2});
  CHECK(kept(.39) == std::set{1, 2});
  CHECK(kept(.5) == std::set{0, 1, 2});
  CHECK(kept(.95) == std::set{0, 1, 2, 3});
}

TEST_CASE("a large vocabulary is drawn from as its softmax says") {
  std::vector<float> many(600);  // of which a ranking sorts 64 first
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = float((i * 7919) % 600) / 240;
  double total = 0, above = 0;
  for (float l : many) total += std::exp(double(l));
  for (float l : many) above += l > 2 ? std::exp(double(l)) : 0;
  double found = 0;
  for (std::uint64_t at = 0; at < 4000; ++at)
    found += many[std::size_t(sample(many, {1, 0, 5}, at))] > 2 ? 1. / 4000 : 0;
  CHECK(found == doctest::Approx(above / total).epsilon(.06));
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
