// SPDX-License-Identifier: Apache-2.0
// Drawing a token.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include "sinter/error.hpp"
#include "sinter/generate/generate.hpp"

using namespace sinter;
using namespace sinter::detail;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
const std::vector<float> logits{0.5f, 2.0f, -1.0f, 2.0f, -infinity, 1.0f};

std::map<int, int> counts(const std::vector<float>& of, const SamplingOptions& options,
                          int draws = 40'000) {
  std::map<int, int> drawn;
  for (int p = 0; p < draws; ++p) ++drawn[sample(of, options, std::uint64_t(p))];
  return drawn;
}

/// Pearson's χ² of draws from the softmax of some tokens at a temperature: the sum of
/// (count - expected)² / expected. Infinite if another token was drawn.
double chi_squared(const std::map<int, int>& drawn, const std::vector<float>& of,
                   const std::vector<int>& tokens, double temperature) {
  double total = 0, draws = 0, sum = 0;
  for (int token : tokens) total += std::exp(of[std::size_t(token)] / temperature);
  for (const auto& [token, count] : drawn) {
    if (std::ranges::find(tokens, token) == tokens.end()) return double(infinity);
    draws += count;
  }
  for (int token : tokens) {
    const double expected = draws * std::exp(of[std::size_t(token)] / temperature) / total;
    const double apart = (drawn.contains(token) ? drawn.at(token) : 0) - expected;
    sum += apart * apart / expected;
  }
  return sum;
}
/// What χ² of so many tokens exceeds with a probability of 0.001, if the draws are right: the
/// quantile for one degree of freedom less.
double critical(std::size_t tokens) {
  const std::map<std::size_t, double> quantiles{
      {2, 10.828}, {3, 13.816}, {4, 16.266}, {5, 18.467}, {600, 711.682}};
  return quantiles.at(tokens);
}
/// Checks that draws with these options are from the softmax of these tokens.
void check_draws(const std::vector<float>& of, const SamplingOptions& options,
                 const std::vector<int>& tokens) {
  CAPTURE(options.temperature);
  CHECK(chi_squared(counts(of, options), of, tokens, options.temperature) <
        critical(tokens.size()));
}

}  // namespace

TEST_CASE("temperature 0 takes the likeliest, the lower of equals") {
  for (std::uint64_t seed : {0, 1, 2}) CHECK(sample(logits, {0, 0, seed}, 9) == 1);
}

// Seeds are fixed, so that a right sampler passes always, or never.
TEST_CASE("tokens are drawn from the softmax of the logits divided by the temperature") {
  for (double temperature : {0.5, 1.0, 3.0})
    check_draws(logits, {temperature, 0, 11}, {0, 1, 2, 3, 5});
  std::map<int, int> by_seed;
  for (std::uint64_t seed = 0; seed < 40'000; ++seed) ++by_seed[sample(logits, {1, 0, seed}, 0)];
  CHECK(chi_squared(by_seed, logits, {0, 1, 2, 3, 5}, 1) < critical(5));
}

TEST_CASE("the χ² of so many draws tells temperatures apart that differ by a twentieth") {
  for (double other : {0.95, 1.05})
    CHECK(chi_squared(counts(logits, {1, 0, 11}), logits, {0, 1, 2, 3, 5}, other) > critical(5));
  CHECK(chi_squared(counts(logits, {1, 0, 11}), logits, {1, 2, 3, 5}, 1) == double(infinity));
}

TEST_CASE("top-k draws from the k likeliest, and all that are as likely as the last of them") {
  check_draws(logits, {1, 3, 4}, {1, 3, 5});
  check_draws(logits, {2, 1, 4}, {1, 3});
  CHECK(counts(logits, {1, 100, 4}) == counts(logits, {1, 0, 4}));
}

TEST_CASE("what top-p, min-p and typical-p keep is drawn by its softmax") {
  // At a temperature of 1 the probabilities are .38 twice, .14, .08 and .02.
  check_draws(logits, {.temperature = 1, .seed = 6, .top_p = .9}, {0, 1, 3, 5});
  check_draws(logits, {.temperature = 1, .seed = 7, .min_p = .3}, {1, 3, 5});
  check_draws(logits, {.temperature = 1, .seed = 8, .typical_p = .6}, {1, 3});
}

TEST_CASE("the temperature comes before top-p, and top-k, too") {
  // At 3 the probabilities are .27 twice, .19, .16 and .10: the first three reach .7. At 1 the first two do.
  check_draws(logits, {.temperature = 3, .seed = 9, .top_p = .7}, {1, 3, 5});
  // Of the three likeliest they are .42 twice and .16: the first two reach .84. Of all they have .77.
  check_draws(logits, {.temperature = 1, .top_k = 3, .seed = 10, .top_p = .84}, {1, 3});
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
  const auto kept = [](double p) {
    return counts(logits, {.temperature = 1, .seed = 2, .min_p = p}, 4000).size();
  };
  CHECK(kept(.3) == 3);   // 1, 3 and 5
  CHECK(kept(.5) == 2);   // 1 and 3
  CHECK(kept(.01) == 5);  // not 4
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
  std::vector<int> all(many.size());
  std::iota(all.begin(), all.end(), 0);
  check_draws(many, {1, 0, 5}, all);
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
