// SPDX-License-Identifier: Apache-2.0
// Beam search: known answers, and all texts that there are.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "sinter/error.hpp"
#include "sinter/generate/texts.hpp"
#include "support/toy_batch.hpp"

namespace sinter::detail::testing::beams_tests {
namespace {

using Tokens = std::vector<std::int32_t>;

std::vector<GeneratedText> found(const GenerationRequest& request, ToyBatch::Logits logits) {
  ToyBatch batch(request.beams.beams, std::move(logits));
  return generate(batch, {&request, 1})[0];
}

/// The logarithms of what follows each last token. Token 2 ends a text.
std::vector<float> by_last(const Tokens& text) {
  const std::map<int, std::vector<double>> probabilities{
      {0, {.5, .4, .1}}, {1, {.05, .05, .9}}, {3, {.6, .4, 0}}};
  std::vector<float> logits;
  for (double p : probabilities.at(text.back())) logits.push_back(float(std::log(p)));
  logits.push_back(-HUGE_VALF);
  return logits;
}

// Behind 3 come 0 (.6) and 1 (.4). Greedy takes 0 0 0 …; "1 end" has .36, "0 1 end" .216.
TEST_CASE("two beams find what the likeliest token at each place misses") {
  GenerationRequest request{.prompt = {.tokens = {3}, .end = 2},
                            .tokens = 6,
                            .results = 2,
                            .sampling = {.temperature = 0},
                            .beams = {.beams = 2, .length_penalty = LengthPenalty::none}};
  const auto texts = found(request, by_last);
  REQUIRE(texts.size() == 2);
  CHECK(texts[0].tokens == Tokens{1});
  CHECK(texts[0].end == GenerationEnd::end_of_text);
  CHECK(texts[0].end_token == 2);
  CHECK(texts[0].score == doctest::Approx(std::log(.36)));
  CHECK(texts[1].tokens == Tokens{0, 1});
  CHECK(texts[1].score == doctest::Approx(std::log(.216)));
  REQUIRE(texts[1].log_probabilities.size() == 3);
  CHECK(texts[1].log_probabilities[1] == doctest::Approx(std::log(.4)));
}

// The sums of "1 end", "0 1 end" and "0 0 1 end" are log .36, log .216 and log .108, over 2, 3 and
// 4 tokens.
TEST_CASE("a score is divided by the penalty of its length, the end counted") {
  GenerationRequest request{.prompt = {.tokens = {3}, .end = 2},
                            .tokens = 6,
                            .sampling = {.temperature = 0},
                            .beams = {.beams = 2}};
  CHECK(found(request, by_last)[0].score == doctest::Approx(std::log(.36) / 2));
  request.beams.exponent = 2;
  request.beams.early_stopping = BeamStopping::never;
  auto longer = found(request, by_last)[0];
  CHECK(longer.score == doctest::Approx(std::log(.6 * .5 * .5 * .5 * .4 * .9) / 36));
  CHECK(longer.tokens == Tokens{0, 0, 0, 0, 1});
  request.beams = {.beams = 2, .length_penalty = LengthPenalty::wu, .exponent = .65};
  CHECK(found(request, by_last)[0].score == doctest::Approx(std::log(.36) / std::pow(4. / 6, .65)));
}

TEST_CASE("early stopping ends at once, and without it what still runs may win") {
  GenerationRequest request{
      .prompt = {.tokens = {3}, .end = 2},
      .tokens = 6,
      .sampling = {.temperature = 0},
      .beams = {.beams = 2, .early_stopping = BeamStopping::yes, .exponent = 2}};
  // "1 end" and "0 1 end" are the first two that end.
  CHECK(found(request, by_last)[0].tokens == Tokens{0, 1});
  request.beams.early_stopping = BeamStopping::never;
  CHECK(found(request, by_last)[0].tokens.size() == 5);
}

// Without rules, candidates are found by logits themselves, whose size differs from that of scores.
TEST_CASE("a rule that adds nothing does not change a beam search") {
  for (const float shift : {0.f, 40.f, -3000.f}) {
    const ToyBatch::Logits logits = [&](const Tokens& text) {
      std::vector<float> moved = random_logits(12)(text);
      for (float& logit : moved) logit += shift;
      return moved;
    };
    GenerationRequest request{.prompt = {.tokens = {1, 2}, .end = 0},
                              .tokens = 30,
                              .results = 4,
                              .sampling = {.temperature = 0},
                              .beams = {.beams = 4}};
    const auto plain = found(request, logits);
    request.sampling.sequence_bias = {{{3}, 0}};
    const auto ruled = found(request, logits);
    REQUIRE(plain.size() == ruled.size());
    for (std::size_t k = 0; k < plain.size(); ++k) {
      CHECK(plain[k].tokens == ruled[k].tokens);
      CHECK(plain[k].score == ruled[k].score);
      CHECK(plain[k].log_probabilities == ruled[k].log_probabilities);
    }
  }
}

/// All texts of up to `limit` tokens, of which token 0 ends one, with their sums.
void add_all(const ToyBatch::Logits& logits_of, Tokens text, double sum, int limit,
             std::vector<std::pair<double, Tokens>>& into) {
  const std::vector<float> logits = logits_of(text);
  double total = 0;
  for (float logit : logits) total += std::exp(double(logit));
  for (int token = 0; token < int(logits.size()); ++token) {
    const double next = sum + logits[std::size_t(token)] - std::log(total);
    Tokens more = text;
    if (token > 0) more.push_back(token);
    if (token == 0 || limit == 1) {
      into.emplace_back(next, Tokens(more.begin() + 1, more.end()));
    } else {
      add_all(logits_of, more, next, limit - 1, into);
    }
  }
}

TEST_CASE("as many beams as texts find the likeliest of all texts") {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const ToyBatch::Logits logits = random_logits(4, seed);
    std::vector<std::pair<double, Tokens>> all;
    add_all(logits, {1}, 0, 4, all);
    std::ranges::sort(all, std::greater());
    GenerationRequest request{.prompt = {.tokens = {1}, .end = 0},
                              .tokens = 4,
                              .results = 10,
                              .sampling = {.temperature = 0},
                              .beams = {.beams = 130,
                                        .early_stopping = BeamStopping::never,
                                        .length_penalty = LengthPenalty::none}};
    const auto texts = found(request, logits);
    REQUIRE(texts.size() == 10);
    for (std::size_t k = 0; k < 10; ++k) {
      CHECK(texts[k].score == doctest::Approx(all[k].first));
      CHECK(texts[k].tokens == all[k].second);
    }
  }
}

TEST_CASE("rules act on log-probabilities, of each hypothesis by its own text") {
  GenerationRequest request{.prompt = {.tokens = {3}, .end = 2},
                            .tokens = 4,
                            .results = 2,
                            .sampling = {.temperature = 0, .repetition_penalty = 2},
                            .beams = {.beams = 2, .length_penalty = LengthPenalty::none}};
  const auto texts = found(request, by_last);
  // A repeated token's logarithm is doubled: "1 end" and "0 1 end" repeat none.
  CHECK(texts[0].tokens == Tokens{1});
  CHECK(texts[1].tokens == Tokens{0, 1});
  request.sampling = {.temperature = 0, .min_new_tokens = 3};
  for (const GeneratedText& text : found(request, by_last)) CHECK(text.tokens.size() >= 3);
  request.sampling = {.temperature = 0, .forced_last = {2}};
  for (const GeneratedText& text : found(request, by_last))
    CHECK(text.end == GenerationEnd::end_of_text);
}

TEST_CASE("a function may end hypotheses, too") {
  GenerationRequest request{.prompt = {.tokens = {3}, .end = 2},
                            .tokens = 6,
                            .results = 2,
                            .sampling = {.temperature = 0},
                            .beams = {.beams = 2, .length_penalty = LengthPenalty::none}};
  request.stop = [](std::span<const std::int32_t> t) { return t.back() == 0; };
  const auto texts = found(request, by_last);
  CHECK(texts[0].tokens == Tokens{0});
  CHECK(texts[0].end == GenerationEnd::stopped);
  CHECK(texts[0].score == doctest::Approx(std::log(.6)));
  CHECK(texts[1].tokens == Tokens{1});
}

/// How probable it is that this token is drawn among `count` of some, without replacement, and no
/// likelier one is.
double share_of_best(std::vector<double> weights, std::size_t token, int count) {
  // Sums over all orders of draws.
  const std::function<double(std::vector<bool>, int)> after = [&](std::vector<bool> drawn,
                                                                  int left) {
    if (left == 0) return drawn[token] ? 1. : 0.;
    double total = 0, share = 0;
    for (std::size_t k = 0; k < weights.size(); ++k) total += drawn[k] ? 0 : weights[k];
    for (std::size_t k = 0; k < weights.size(); ++k) {
      if (drawn[k] || weights[k] > weights[token]) continue;
      std::vector<bool> more = drawn;
      more[k] = true;
      share += weights[k] / total * after(more, left - 1);
    }
    return share;
  };
  return after(std::vector<bool>(weights.size()), count);
}

TEST_CASE("a positive temperature draws hypotheses without replacement") {
  // Two beams look at four candidates. They are drawn from six tokens, of which the best is taken.
  const std::vector<double> weights{1, 2, 3, 4, 5, 6};
  constexpr double temperature = 2;
  const auto logits = [&](const Tokens&) {
    std::vector<float> result;
    for (double weight : weights) result.push_back(float(temperature * std::log(weight)));
    return result;
  };
  GenerationRequest request{.prompt = {.tokens = {0}},
                            .tokens = 1,
                            .sampling = {.temperature = temperature},
                            .beams = {.beams = 2}};
  std::map<int, double> counts;
  constexpr int draws = 20'000;
  for (int seed = 0; seed < draws; ++seed) {
    request.sampling.seed = std::uint64_t(seed);
    counts[found(request, logits)[0].tokens[0]] += 1. / draws;
  }
  double sum = 0;
  for (std::size_t token = 0; token < weights.size(); ++token) {
    const double share = share_of_best(weights, token, 4);
    CHECK(counts[int(token)] == doctest::Approx(share).epsilon(.01).scale(1));
    sum += share;
  }
  CHECK(sum == doctest::Approx(1));
}

TEST_CASE("each rule of drawing leaves one token more than there are ends") {
  const std::vector<float> some{std::log(.5f), std::log(.25f), std::log(.15f), std::log(.1f)};
  const auto kept = [&](const SamplingOptions& options, std::size_t least) {
    SamplingMemory memory;
    const std::span<const int> all = kept_tokens(some, options, least, memory);
    std::vector<int> tokens(all.begin(), all.end());
    std::ranges::sort(tokens);
    return tokens;
  };
  using Kept = std::vector<int>;
  for (const SamplingOptions& options :
       {SamplingOptions{.top_k = 1}, SamplingOptions{.top_p = .1}, SamplingOptions{.min_p = .9}}) {
    CHECK(kept(options, 1) == Kept{0});
    CHECK(kept(options, 2) == Kept{0, 1});
    CHECK(kept(options, 3) == Kept{0, 1, 2});
    CHECK(kept(options, 9) == Kept{0, 1, 2, 3});
  }
  // The entropy is 1.208, and 1.386 is nearest to it, then .693 and 1.897.
  CHECK(kept({.typical_p = .1}, 1) == Kept{1});
  CHECK(kept({.typical_p = .1}, 2) == Kept{0, 1});
  CHECK(kept({.typical_p = .1}, 3) == Kept{0, 1, 2});
}

TEST_CASE("where all tokens are forbidden, a beam search says so") {
  GenerationRequest request{.prompt = {.tokens = {3}},
                            .sampling = {.temperature = 0, .suppressed = {0, 1}},
                            .beams = {.beams = 2}};
  CHECK_THROWS_AS(found(request, by_last), NonFiniteError);
}

}  // namespace
}  // namespace sinter::detail::testing::beams_tests
