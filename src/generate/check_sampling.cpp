// SPDX-License-Identifier: Apache-2.0
// What options of sampling must be.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "sinter/error.hpp"
#include "sinter/generate/sampling.hpp"

namespace sinter::detail {
namespace {

void require(bool holds, std::string_view name, double value, std::string_view what) {
  if (!holds) throw ArgumentError(fmt::format("The {} is {}; it must be {}.", name, value, what));
}

void check_ranges(const SamplingOptions& o) {
  require(o.temperature >= 0 && std::isfinite(o.temperature), "temperature", o.temperature,
          "0 (always the likeliest token) or a positive number");
  require(o.top_k >= 0, "top-k", o.top_k, "0 (all tokens) or positive");
  require(o.top_p > 0 && o.top_p <= 1, "top-p", o.top_p, "above 0 and at most 1 (all tokens)");
  require(o.min_p >= 0 && o.min_p <= 1, "min-p", o.min_p, "between 0 (all tokens) and 1");
  require(o.typical_p > 0 && o.typical_p <= 1, "typical-p", o.typical_p,
          "above 0 and at most 1 (all tokens)");
  require(o.repetition_penalty > 0 && std::isfinite(o.repetition_penalty), "repetition penalty",
          o.repetition_penalty, "a positive number; 1 changes nothing");
  require(std::isfinite(o.frequency_penalty), "frequency penalty", o.frequency_penalty,
          "a number; 0 changes nothing");
  require(std::isfinite(o.presence_penalty), "presence penalty", o.presence_penalty,
          "a number; 0 changes nothing");
  for (int length : {o.no_repeat_ngram, o.no_repeat_written_ngram, o.no_repeat_prompt_ngram})
    require(length >= 0, "length of n-grams that are not repeated", length,
            "0 (none is forbidden) or positive");
  require(o.min_new_tokens >= 0, "least number of new tokens", double(o.min_new_tokens),
          "0 or positive");
}

/// Checks tokens that a rule names.
void check_tokens(std::string_view rule, std::span<const std::int32_t> tokens, int vocabulary) {
  for (std::int32_t token : tokens)
    if (token < 0 || token >= vocabulary)
      throw ArgumentError(
          fmt::format("{} names the token {}, and the model has tokens from 0 to {}. Leave it out.",
                      rule, token, vocabulary - 1));
}

void check_sequence(std::string_view rule, std::span<const std::int32_t> tokens, int vocabulary) {
  if (tokens.empty())
    throw ArgumentError(fmt::format("{} has a sequence without tokens. Leave it out.", rule));
  check_tokens(rule, tokens, vocabulary);
}

/// throws    ArgumentError if all tokens that are forced are suppressed, too
void check_forced(std::string_view forced, std::span<const std::int32_t> tokens,
                  std::string_view suppressed, std::span<const std::int32_t> without) {
  const auto is_suppressed = [&](std::int32_t token) {
    return std::ranges::find(without, token) != without.end();
  };
  if (!tokens.empty() && std::ranges::all_of(tokens, is_suppressed))
    throw ArgumentError(
        fmt::format("{} and {} contradict each other: no token is left. Leave one of them out.",
                    forced, suppressed));
}

}  // namespace

void check_sampling(const SamplingOptions& o, int tokens) {
  check_ranges(o);
  if (o.temperature == 0 && (o.top_k > 1 || o.top_p < 1 || o.min_p > 0 || o.typical_p < 1))
    throw ArgumentError(
        "A temperature of 0 always takes the likeliest token, so top-k, top-p, min-p and typical-p "
        "have no effect. Leave them out, or give a positive temperature.");
  for (const SequenceBias& rule : o.sequence_bias) {
    check_sequence("sequence_bias", rule.tokens, tokens);
    require(!std::isnan(rule.bias) && rule.bias < HUGE_VAL, "sequence bias", rule.bias,
            "a number or minus infinity");
  }
  for (const auto& word : o.bad_words) check_sequence("bad_words", word, tokens);
  check_tokens("suppressed", o.suppressed, tokens);
  check_tokens("suppressed_first", o.suppressed_first, tokens);
  check_tokens("forced_first", o.forced_first, tokens);
  check_tokens("forced_last", o.forced_last, tokens);
  check_forced("forced_first", o.forced_first, "suppressed", o.suppressed);
  check_forced("forced_last", o.forced_last, "suppressed", o.suppressed);
}

}  // namespace sinter::detail
