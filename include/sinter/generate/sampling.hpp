// SPDX-License-Identifier: Apache-2.0
// How each next token of a text is chosen.
#pragma once
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace sinter {

/// Tokens, and what is added to the score of the last of them where the others end the text.
struct SequenceBias {
  std::vector<std::int32_t> tokens;  ///< at least one
  double bias;                       ///< finite, or minus infinity, which forbids the token
};

/// How tokens are chosen. Rules apply in the order of these members but for the first three, which
/// is that of transformers; by default each changes nothing. A temperature of 0 takes the likeliest
/// token that the rules above it leave; the rules below it are then an error.
struct SamplingOptions {
  double temperature = 1;  ///< logits are divided by it; at 0 the likeliest token is always taken
  int top_k = 0;  ///< only the k likeliest tokens, and those as likely as the last of them;
                  ///< 0 draws from all
  std::uint64_t seed = 0;  ///< seed of the draws

  /// Added to scores of tokens that would end these sequences.
  std::vector<SequenceBias> sequence_bias{};
  /// Divides positive logits of each token of the text, prompt included, and multiplies negative
  /// ones (Keskar et al. 2019, CTRL); above 0.
  double repetition_penalty = 1;
  /// Is subtracted from the logit of a written token, for each time that it was written; prompts do
  /// not count.
  double frequency_penalty = 0;
  /// Is subtracted once from the logit of each written token; prompts do not count.
  double presence_penalty = 0;
  /// Forbids each token that would repeat as many tokens as this of the text, prompt included; 0
  /// forbids none.
  int no_repeat_ngram = 0;
  /// Forbids each token that would repeat as many tokens as this of what was written; 0 forbids
  /// none. An encoder-decoder's text counts from the first token of its decoder on (ParlAI's
  /// beam_block_ngram).
  int no_repeat_written_ngram = 0;
  /// Forbids each token that would repeat as many tokens as this of the prompt, which is what the
  /// encoder of an encoder-decoder reads; 0 forbids none (transformers'
  /// encoder_no_repeat_ngram_size, ParlAI's beam_context_block_ngram).
  int no_repeat_prompt_ngram = 0;
  /// Sequences that are never written; the prompt may begin one.
  std::vector<std::vector<std::int32_t>> bad_words{};
  /// Forbids the text's end before as many tokens were written.
  std::int64_t min_new_tokens = 0;
  std::vector<std::int32_t> forced_first{};  ///< if any, one of these is the first token written
  std::vector<std::int32_t> forced_last{};   ///< if any, one of these is the last that the limit
                                             ///< allows
  std::vector<std::int32_t> suppressed{};    ///< tokens that are never written
  std::vector<std::int32_t> suppressed_first{};  ///< tokens that are not written first, or first
                                                 ///< after a forced one

  double top_p =
      1;  ///< only the likeliest tokens whose probabilities reach it together (Holtzman et
          ///< al. 2020); in (0, 1]
  double min_p = 0;  ///< only tokens at least min_p times as likely as the likeliest; in [0, 1]
  /// Only the tokens whose surprise is nearest to the mean surprise, until their probabilities
  /// reach it together (Meister et al. 2023); in (0, 1].
  double typical_p = 1;
};

namespace detail {

/// A text that is being written, to which rules look back.
struct WrittenText {
  std::span<const std::int32_t> tokens{};  ///< the prompt's, and those that were written
  std::size_t prompt = 0;                  ///< tokens of the prompt
  std::int64_t limit = -1;                 ///< most tokens to write; -1: none
  std::span<const std::int32_t> ends{};    ///< tokens that end the text
  std::span<const std::int32_t> source{};  ///< what an encoder reads; else none

  std::int64_t written() const { return std::int64_t(tokens.size() - prompt); }
};

/// throws    ArgumentError, with the option and what it must be, if an option is out of range,
///           contradicts another, or names a token outside a vocabulary of `tokens`
void check_sampling(const SamplingOptions& options, int tokens);

/// What the choice of a token works with. Kept from token to token, so that these allocate nothing.
struct SamplingMemory {
  std::vector<std::int32_t> sorted{};                       ///< tokens of a text
  std::vector<int> ranking{};                               ///< tokens, likelier ones first
  std::vector<std::pair<double, std::size_t>> surprises{};  ///< with the ranks of tokens
  std::vector<std::size_t> kept{};                          ///< ranks that rules leave
  std::vector<int> tokens{};                                ///< tokens that rules leave
};

/// True if an option sets a rule that looks back at the text. If none does, apply_rules() changes nothing.
bool has_rules(const SamplingOptions& options);

/// Applies the rules that look back at the text to the logits of its next token.
void apply_rules(std::span<float> logits, const WrittenText& text, const SamplingOptions& options,
                 SamplingMemory& memory);
/// Does the same with memory of its own.
inline void apply_rules(std::span<float> logits, const WrittenText& text,
                        const SamplingOptions& options) {
  SamplingMemory memory;
  apply_rules(logits, text, options, memory);
}

/// Returns the largest logit.
/// throws    NonFiniteError if a logit is NaN or plus infinity, or if all tokens are forbidden
float check_logits(std::span<const float> logits);

/// The tokens that top_k, top_p, min_p and typical_p leave, likelier ones first; each rule leaves at
/// least the `least` likeliest (or most typical), as transformers' min_tokens_to_keep.
/// They lie in the memory.
/// requires  the temperature is positive
/// throws    what sample() throws
std::span<const int> kept_tokens(std::span<const float> logits, const SamplingOptions& options,
                                 std::size_t least, SamplingMemory& memory);

/// A random number of 53 bits in [0, 1), a pure function of its arguments.
double uniform_draw(std::uint64_t seed, std::uint64_t position);

/// The seed of the draws of a result of a request, so that draws do not depend on what is written
/// beside it. That of the first result of the first request is `seed`.
std::uint64_t stream_seed(std::uint64_t seed, std::uint64_t request, std::uint64_t result);

/// Draws a token by temperature, top_k, top_p, min_p and typical_p, as a pure function of its
/// arguments. `position` is the index of the draw: each has a random number of its own
/// (SplitMix64), so that a text can be continued. Of two equal logits, the lower token counts as
/// likelier. A logit of minus infinity forbids its token.
/// throws    ArgumentError if an option is out of range; NonFiniteError if a logit is NaN or plus
///           infinity, or if all tokens are forbidden
int sample(std::span<const float> logits, const SamplingOptions& options, std::uint64_t position,
           SamplingMemory& memory);
/// Does the same with memory of its own.
inline int sample(std::span<const float> logits, const SamplingOptions& options,
                  std::uint64_t position) {
  SamplingMemory memory;
  return sample(logits, options, position, memory);
}

}  // namespace detail
}  // namespace sinter
