// SPDX-License-Identifier: Apache-2.0
// Texts behind many prompts, which share a batch.
#include "sinter/generate/texts.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "sinter/error.hpp"
#include "support/toy_batch.hpp"

namespace sinter::detail::testing::texts_tests {
namespace {

using Tokens = std::vector<std::int32_t>;
using Requests = std::vector<GenerationRequest>;
using Results = std::vector<std::vector<GeneratedText>>;
constexpr int vocabulary = 12;

/// Requests of several lengths, with ends, several results and beams.
Requests some_requests() {
  Requests requests;
  for (int k = 0; k < 9; ++k) {
    GenerationRequest request{.prompt = {.tokens = Tokens(std::size_t(1 + k % 3), k)},
                              .tokens = 3 + 5 * (k % 4)};
    if (k % 2 == 0) request.prompt.end = 4;
    if (k % 3 == 1) request.results = 2;
    if (k % 4 == 3) {
      request.beams.beams = 3;
      request.sampling.temperature = k == 3 ? 0 : 1;
    }
    request.sampling.seed = 5;
    requests.push_back(std::move(request));
  }
  return requests;
}

Results written(const Requests& requests, int rows, const GenerationHooks& hooks = {}) {
  ToyBatch batch(rows, random_logits(vocabulary));
  Results results = generate(batch, requests, hooks);
  CHECK(batch.rows() == 0);
  CHECK(batch.most_rows <= rows);
  return results;
}

void require_same(const Results& a, const Results& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t k = 0; k < a.size(); ++k) {
    REQUIRE(a[k].size() == b[k].size());
    for (std::size_t r = 0; r < a[k].size(); ++r) {
      CHECK(a[k][r].tokens == b[k][r].tokens);
      CHECK(a[k][r].log_probabilities == b[k][r].log_probabilities);
      CHECK(a[k][r].score == b[k][r].score);
      CHECK(a[k][r].end == b[k][r].end);
    }
  }
}

TEST_CASE("what is written does not hang on what is written beside it") {
  const Requests requests = some_requests();
  const Results alone = written(requests, 3);
  for (int rows : {4, 7, 100}) require_same(alone, written(requests, rows));
}

TEST_CASE("where a text ends, the next one begins") {
  Requests requests;
  for (int k = 0; k < 8; ++k)
    requests.push_back({.prompt = {.tokens = {k}}, .tokens = k == 0 ? 12 : 2});
  ToyBatch batch(2, random_logits(vocabulary));
  generate(batch, requests);
  CHECK(batch.most_rows == 2);
  CHECK(batch.steps == 14);  // 12 beside 6 of the texts of 2 tokens, and 2 for the last
}

TEST_CASE("a log-probability is the model's, before all rules, and the score is their sum") {
  const Requests requests{{.prompt = {.tokens = {1, 2}, .end = 3},
                           .tokens = 50,
                           .sampling = {.temperature = .7,
                                        .seed = 1,
                                        .repetition_penalty = 1.5,
                                        .suppressed = {5},
                                        .top_p = .9}}};
  const GeneratedText text = written(requests, 1)[0][0];
  REQUIRE(text.end == GenerationEnd::end_of_text);
  CHECK(text.end_token == 3);
  REQUIRE(text.log_probabilities.size() == text.tokens.size() + 1);
  Tokens all{1, 2};
  double sum = 0;
  for (std::size_t k = 0; k <= text.tokens.size(); ++k) {
    const std::vector<float> logits = random_logits(vocabulary)(all);
    const std::int32_t token = k < text.tokens.size() ? text.tokens[k] : 3;
    double total = 0;
    for (float logit : logits) total += std::exp(double(logit));
    const double expected = logits[std::size_t(token)] - std::log(total);
    CHECK(text.log_probabilities[k] == doctest::Approx(expected));
    CHECK(token != 5);
    sum += expected;
    all.push_back(token);
  }
  CHECK(text.score == doctest::Approx(sum));
}

TEST_CASE("a request without log-probabilities writes the same texts") {
  Requests requests = some_requests();
  requests[1].sampling.temperature = 0;
  requests[1].results = 1;
  requests[4].sampling.suppressed = {5};  // a rule
  const Results with = written(requests, 7);
  for (GenerationRequest& request : requests) request.log_probabilities = false;
  GenerationHooks hooks;
  hooks.on_token = [](const WrittenToken& token) { return token.log_probability == 0; };
  const Results without = written(requests, 7, hooks);
  for (std::size_t k = 0; k < requests.size(); ++k) {
    REQUIRE(without[k].size() == with[k].size());
    const bool has_beams = requests[k].beams.beams > 1;
    for (std::size_t r = 0; r < with[k].size(); ++r) {
      CHECK(without[k][r].tokens == with[k][r].tokens);
      CHECK(without[k][r].end == with[k][r].end);
      CHECK(without[k][r].score == (has_beams ? with[k][r].score : 0));
      CHECK(without[k][r].log_probabilities.empty() == !has_beams);
    }
  }
}

TEST_CASE("several results have draws of their own, and more of them change none") {
  GenerationRequest request{
      .prompt = {.tokens = {1}}, .tokens = 20, .results = 2, .sampling = {.seed = 3}};
  const Results two = written({request}, 5);
  CHECK(two[0][0].tokens != two[0][1].tokens);
  request.results = 5;
  const Results five = written({request, request}, 5);
  for (std::size_t k : {0, 1}) CHECK(five[0][k].tokens == two[0][k].tokens);
  CHECK(five[0][0].tokens != five[1][0].tokens);  // another request draws anew
  request.sampling.seed = 4;
  CHECK(written({request}, 5)[0][0].tokens != two[0][0].tokens);
}

TEST_CASE("a text stops where the request's function says so") {
  GenerationRequest request{.prompt = {.tokens = {1}}, .tokens = 20, .sampling = {.seed = 3}};
  const Tokens whole = written({request}, 1)[0][0].tokens;
  request.stop = [&](std::span<const std::int32_t> t) { return t.size() == 4; };
  const GeneratedText text = written({request}, 1)[0][0];
  CHECK(text.tokens == Tokens(whole.begin(), whole.begin() + 4));
  CHECK(text.end == GenerationEnd::stopped);
  CHECK(text.end_token == -1);
}

TEST_CASE("hooks get each token in order, and results in the order of requests") {
  const Requests requests = some_requests();
  std::vector<std::vector<Tokens>> seen(requests.size(), std::vector<Tokens>(5));
  std::vector<std::size_t> told;
  Results given(requests.size());
  const Results results = written(requests, 8,
                                  {.on_token =
                                       [&](const WrittenToken& w) {
                                         seen[w.request][std::size_t(w.result)].push_back(w.token);
                                         return true;
                                       },
                                   .on_results =
                                       [&](std::size_t k, const std::vector<GeneratedText>& texts) {
                                         told.push_back(k);
                                         given[k] = texts;
                                       }});
  std::vector<std::size_t> all(requests.size());
  std::iota(all.begin(), all.end(), 0);
  CHECK(told == all);
  require_same(given, results);
  for (std::size_t k = 0; k < requests.size(); ++k)
    for (std::size_t r = 0; r < results[k].size(); ++r)
      CHECK(seen[k][r] == (requests[k].beams.beams > 1 ? Tokens() : results[k][r].tokens));
}

TEST_CASE("who cancels gets what is written by then") {
  const Requests requests = some_requests();
  const Results whole = written(requests, 6);
  for (int after : {0, 1, 2, 5, 9}) {
    int asked = 0;
    const Results some = written(requests, 6, {.goes_on = [&] { return asked++ < after; }});
    REQUIRE(some.size() == whole.size());
    CHECK(some.back().empty());  // it has not begun
    int cancelled = 0;
    for (std::size_t k = 0; k < some.size(); ++k)
      for (std::size_t r = 0; r < some[k].size(); ++r) {
        const GeneratedText& text = some[k][r];
        if (text.end != GenerationEnd::cancelled) {
          CHECK(text.tokens == whole[k][r].tokens);
          continue;
        }
        ++cancelled;
        CHECK(int(text.tokens.size()) <= after);
        CHECK(text.log_probabilities.size() == text.tokens.size());
        if (requests[k].beams.beams == 1)
          CHECK(std::equal(text.tokens.begin(), text.tokens.end(), whole[k][r].tokens.begin()));
      }
    CHECK(cancelled > 0);
  }
  int tokens = 0;
  written(requests, 6, {.on_token = [&](const WrittenToken&) { return ++tokens < 7; }});
  CHECK(tokens == 7);
}

TEST_CASE("requests that cannot be are refused, and the batch is empty then") {
  const auto refuses = [](const GenerationRequest& request, const std::string& part) {
    CAPTURE(part);
    ToyBatch batch(4, random_logits(vocabulary));
    try {
      generate(batch, Requests{{.prompt = {.tokens = {1}}}, request});
      FAIL_CHECK("nothing was refused");
    } catch (const ArgumentError& error) {
      CHECK(std::string(error.what()).find(part) != std::string::npos);
    }
    CHECK(batch.rows() == 0);
  };
  const Prompt prompt{.tokens = {1}};
  refuses({prompt, 0}, "0 tokens cannot be written");
  refuses({prompt, 5, 0}, "0 results cannot be written");
  refuses({prompt, 5, 5}, "needs 5 rows");
  refuses({prompt, 5, 2, {.temperature = 0}}, "2 results would be equal");
  refuses({.prompt = prompt, .sampling = {.top_p = 0}}, "top-p");
  refuses({.prompt = prompt, .beams = {.beams = 0}}, "number of beams is 0");
  refuses({.prompt = prompt, .beams = {.beams = 5}}, "needs 5 rows");
  refuses({.prompt = prompt, .results = 3, .beams = {.beams = 2}}, "2 beams give 2 results");
  refuses({.prompt = prompt, .beams = {.beams = 1, .exponent = 2}}, "without a beam search");
  refuses({.prompt = prompt,
           .beams = {.beams = 2, .length_penalty = LengthPenalty::none, .exponent = 2}},
          "its exponent has no effect");
  ToyBatch nan(
      4, [](const Tokens& text) { return std::vector<float>(5, text.size() > 2 ? NAN : 0.f); });
  CHECK_THROWS_AS(generate(nan, Requests{{.prompt = prompt}}), NonFiniteError);
  CHECK(nan.rows() == 0);
  nan.add(prompt, 1);
  CHECK_THROWS_AS(generate(nan, Requests{{.prompt = prompt}}), ArgumentError);
}

}  // namespace
}  // namespace sinter::detail::testing::texts_tests
