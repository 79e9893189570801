// SPDX-License-Identifier: Apache-2.0
// Rules that look back at the text, with the values of transformers' logits processors.
#include <doctest/doctest.h>

#include <limits>
#include <vector>

#include "sinter/error.hpp"
#include "sinter/generate/sampling.hpp"

using namespace sinter;
using namespace sinter::detail;

namespace {

using Logits = std::vector<float>;
using Tokens = std::vector<std::int32_t>;
constexpr float none = -std::numeric_limits<float>::infinity();
const Logits begun{1, -2, 3, 0, 4};

/// The logits after the rules, where the last `written` tokens of the text were written.
Logits after(const SamplingOptions& options, const Tokens& text, std::size_t written = 0,
             std::int64_t limit = -1, const Tokens& ends = {}) {
  Logits logits = begun;
  apply_rules(logits, {text, text.size() - written, limit, ends}, options);
  return logits;
}

}  // namespace

TEST_CASE("each rule that looks back is known to be set") {
  CHECK(!has_rules({}));
  CHECK(!has_rules({.temperature = 0, .top_k = 3, .seed = 1, .top_p = .5, .typical_p = .5}));
  const std::vector<SamplingOptions> ruled{
      {.sequence_bias = {{{1}, 2}}}, {.repetition_penalty = 2}, {.frequency_penalty = -1},
      {.presence_penalty = 1},       {.no_repeat_ngram = 1},    {.no_repeat_written_ngram = 1},
      {.no_repeat_prompt_ngram = 1}, {.bad_words = {{1}}},      {.min_new_tokens = 1},
      {.forced_first = {1}},         {.forced_last = {1}},      {.suppressed = {1}},
      {.suppressed_first = {1}}};
  for (std::size_t k = 0; k < ruled.size(); ++k) {
    CAPTURE(k);
    CHECK(has_rules(ruled[k]));
  }
}

TEST_CASE("without rules, logits stay") { CHECK(after({}, {0, 1, 1}, 2) == begun); }

TEST_CASE("a repetition penalty counts each token of the text once, prompt included") {
  CHECK(after({.repetition_penalty = 2}, {0, 1, 1, 3}, 1) == Logits{.5f, -4, 3, 0, 4});
  CHECK(after({.repetition_penalty = .5}, {2, 1}, 0) == Logits{1, -1, 6, 0, 4});
}

TEST_CASE("frequency and presence penalties count what was written") {
  CHECK(after({.frequency_penalty = .5}, {4, 0, 0, 1}, 3) == Logits{0, -2.5f, 3, 0, 4});
  CHECK(after({.presence_penalty = .5}, {4, 0, 0, 1}, 3) == Logits{.5f, -2.5f, 3, 0, 4});
  CHECK(after({.presence_penalty = .5}, {4, 0, 0, 1}, 0) == begun);
}

TEST_CASE("n-grams are not repeated, those of the prompt included") {
  CHECK(after({.no_repeat_ngram = 2}, {0, 1, 0}, 1) == Logits{1, none, 3, 0, 4});
  CHECK(after({.no_repeat_ngram = 3}, {0, 1, 2, 0, 1}, 1) == Logits{1, -2, none, 0, 4});
  CHECK(after({.no_repeat_ngram = 3}, {0, 1, 2, 1, 0}, 1) == begun);
  CHECK(after({.no_repeat_ngram = 1}, {0, 2}, 0) == Logits{none, -2, none, 0, 4});
  CHECK(after({.no_repeat_ngram = 4}, {0, 0}, 0) == begun);
}

TEST_CASE("n-grams are not repeated of what was written alone, or of the prompt alone") {
  CHECK(after({.no_repeat_written_ngram = 2}, {0, 1, 2, 3, 2}, 3) == Logits{1, -2, 3, none, 4});
  CHECK(after({.no_repeat_written_ngram = 2}, {0, 1, 2, 0}, 2) == begun);
  CHECK(after({.no_repeat_prompt_ngram = 2}, {0, 1, 2, 0}, 2) == Logits{1, none, 3, 0, 4});
  CHECK(after({.no_repeat_prompt_ngram = 2}, {0, 1, 2, 3, 2}, 3) == begun);
  CHECK(after({.no_repeat_prompt_ngram = 1}, {0, 2, 1}, 1) == Logits{none, -2, none, 0, 4});
  // An encoder-decoder's prompt is what its encoder reads, and its text begins with its decoder's.
  const auto decoded = [](const SamplingOptions& options, const Tokens& source,
                          const Tokens& reply) {
    Logits logits = begun;
    apply_rules(logits, {reply, 1, -1, {}, source}, options);
    return logits;
  };
  CHECK(decoded({.no_repeat_prompt_ngram = 2}, {0, 1, 0, 4}, {2, 0}) ==
        Logits{1, none, 3, 0, none});
  CHECK(decoded({.no_repeat_written_ngram = 2}, {0, 1}, {0, 2, 0}) == Logits{1, -2, none, 0, 4});
}

TEST_CASE("bad words end nowhere, and a bias is added where its other tokens end the text") {
  CHECK(after({.bad_words = {{4}, {0, 2}, {1, 2, 3}}}, {1, 0}, 1) == Logits{1, -2, none, 0, none});
  CHECK(after({.bad_words = {{1, 2, 3}}}, {1, 2}, 0) == Logits{1, -2, 3, none, 4});
  CHECK(after({.sequence_bias = {{{0}, 10.}, {{1, 2}, -1.}, {{3, 4}, 5.}}}, {1}, 1) ==
        Logits{11, -2, 2, 0, 4});
}

TEST_CASE("a bad word that ends the text is passed over, as transformers does") {
  CHECK(after({.bad_words = {{4}, {2}}}, {1}, 1, -1, {4}) == Logits{1, -2, none, 0, 4});
}

TEST_CASE("a text does not end before its minimum") {
  CHECK(after({.min_new_tokens = 2}, {0, 1}, 1, -1, {2, 4}) == Logits{1, -2, none, 0, none});
  CHECK(after({.min_new_tokens = 2}, {0, 1, 1}, 2, -1, {2, 4}) == begun);
}

TEST_CASE("tokens are suppressed and forced at their places") {
  CHECK(after({.suppressed = {4, 1}}, {0}, 0) == Logits{1, none, 3, 0, none});
  CHECK(after({.suppressed_first = {4}}, {0}, 0) == Logits{1, -2, 3, 0, none});
  CHECK(after({.suppressed_first = {4}}, {0, 1}, 1) == begun);
  const SamplingOptions both{.forced_first = {3}, .suppressed_first = {4}};
  CHECK(after(both, {0}, 0) == Logits{none, none, none, 0, none});
  CHECK(after(both, {0, 3}, 1) == Logits{1, -2, 3, 0, none});
  CHECK(after({.forced_last = {0, 2}}, {1, 1, 1}, 2, 3) == Logits{0, none, 0, none, none});
  CHECK(after({.forced_last = {0, 2}}, {1, 1, 1}, 2, 4) == begun);
  CHECK(after({.forced_last = {0, 2}}, {1, 1, 1}, 2) == begun);
}

TEST_CASE("rules apply in transformers' order") {
  // The bias comes before the penalty, which comes before what is forbidden.
  CHECK(after({.sequence_bias = {{{0}, 1.}}, .repetition_penalty = 2}, {0}, 0)[0] == 1);
  CHECK(after({.repetition_penalty = 2, .frequency_penalty = 1}, {0}, 1)[0] == -.5f);
  // What is forced comes after bad words and the minimum length, which do not forbid it.
  CHECK(after({.bad_words = {{3}}, .forced_first = {3}}, {0})[3] == 0);
  CHECK(after({.min_new_tokens = 9, .forced_last = {2}}, {1, 1}, 1, 2, {2})[2] == 0);
  // What is forced may still be suppressed, if another that is forced is left.
  CHECK(after({.forced_first = {3, 4}, .suppressed = {3}}, {0}, 0) ==
        Logits{none, none, none, none, 0});
}

TEST_CASE("options out of range, contradictory or of other tokens are refused") {
  const auto refuses = [](const SamplingOptions& options, const std::string& part) {
    CAPTURE(part);
    try {
      check_sampling(options, 5);
      FAIL_CHECK("nothing was refused");
    } catch (const ArgumentError& error) {
      CHECK(std::string(error.what()).find(part) != std::string::npos);
    }
  };
  check_sampling({}, 5);
  check_sampling({.temperature = 0, .top_k = 1}, 5);
  refuses({.top_p = 0}, "top-p is 0; it must be above 0");
  refuses({.top_p = 1.5}, "top-p is 1.5");
  refuses({.min_p = -1}, "min-p is -1");
  refuses({.typical_p = 0}, "typical-p is 0");
  refuses({.repetition_penalty = 0}, "repetition penalty is 0");
  refuses({.frequency_penalty = std::numeric_limits<double>::infinity()}, "frequency penalty");
  refuses({.no_repeat_ngram = -1}, "n-grams");
  refuses({.no_repeat_written_ngram = -1}, "n-grams");
  refuses({.no_repeat_prompt_ngram = -1}, "n-grams");
  refuses({.min_new_tokens = -1}, "least number of new tokens is -1");
  refuses({.temperature = 0, .top_p = .9}, "temperature of 0");
  refuses({.bad_words = {{}}}, "bad_words has a sequence without tokens");
  refuses({.bad_words = {{1, 5}}}, "bad_words names the token 5");
  refuses({.suppressed = {-1}}, "suppressed names the token -1");
  refuses({.forced_first = {2}, .suppressed = {1, 2}}, "contradict");
  refuses({.sequence_bias = {{{1}, std::numeric_limits<double>::quiet_NaN()}}}, "sequence bias");
}
