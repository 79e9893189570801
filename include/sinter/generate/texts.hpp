// SPDX-License-Identifier: Apache-2.0
// Texts behind many prompts, written together.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "sinter/batch/sampling_settings.hpp"
#include "sinter/data/prompt.hpp"
#include "sinter/generate/decoding_batch.hpp"
#include "sinter/generate/generation_end.hpp"
#include "sinter/generate/sampling.hpp"

namespace sinter {

class TrainerCore;

/// What is to be written behind a prompt.
struct GenerationRequest {
  Prompt prompt;              ///< Prompt::reply has no effect
  std::int64_t tokens = 256;  ///< most tokens of each result, at least 1
  int results = 1;            ///< texts to write: with beams at most as many as beams
  /// How tokens are chosen. Rules act on log-probabilities where there are beams, else on logits.
  SamplingOptions sampling{};
  BeamOptions beams{};  ///< by default no beam search
  /// False leaves out log-probabilities and the score, which choosing a token does not need. A beam
  /// search needs them, and gives them in any case.
  bool log_probabilities = true;
  /// Gets the tokens written so far, after each one. True if they end the text.
  std::function<bool(std::span<const std::int32_t>)> stop{};
};

/// The request by settings, with the defaults of GenerationRequest for what they leave unsaid. Beams take
/// the best unless the settings say how to draw.
GenerationRequest request_by(const SamplingSettings& settings, Prompt prompt);

/// A text that was written.
struct GeneratedText {
  std::vector<std::int32_t> tokens{};  ///< without the token that ended the text
  /// The logarithm of the probability that the model gives each token, before any rule. If a token
  /// ended the text, one more for it. Empty if the request leaves them out.
  std::vector<double> log_probabilities{};
  /// With beams the sum of the scores that chose the tokens, divided by the length penalty, as
  /// transformers' sequences_scores; else the sum of log_probabilities.
  double score = 0;
  GenerationEnd end = GenerationEnd::length;  ///< why the text ended
  std::int32_t end_token = -1;                ///< the token that ended it; -1 if none did
};

/// A token as it is written.
struct WrittenToken {
  std::size_t request;     ///< index of the request
  int result;              ///< index of the result, from 0
  std::int32_t token;      ///< not one that ends the text
  double log_probability;  ///< as in GeneratedText; 0 if the request leaves it out
};

/// What a program does while texts are written. Each function may be empty.
struct GenerationHooks {
  /// Gets each token as soon as it is drawn, but none of a beam search, which knows its texts at the
  /// end. False cancels all.
  std::function<bool(const WrittenToken&)> on_token{};
  /// Gets the results of each request, in the order of requests, as soon as it and those before it
  /// are done.
  std::function<void(std::size_t request, const std::vector<GeneratedText>&)> on_results{};
  /// Is asked before each token of the batch. False cancels all.
  std::function<bool()> goes_on{};
};

/// Writes texts behind each prompt, best first where there are beams, and returns them in the order
/// of requests. As many requests as fit share the batch; where one has ended, the next one begins.
/// What is drawn depends on logits, seed, the request's index, the result's index and the position,
/// not on what is written beside. The first result of the first request has the draws of the
/// generate() that writes one text. If cancelled, texts at hand end with what they have, and a
/// request that has not begun has no results.
/// throws    ArgumentError if the batch is not empty, a request needs more rows than it has, or
///           results, tokens or options are out of range or contradict each other; what the batch
///           throws; and what sample() throws. Then, too, the batch is empty.
std::vector<std::vector<GeneratedText>> generate(DecodingBatch& batch,
                                                 std::span<const GenerationRequest> requests,
                                                 const GenerationHooks& hooks = {});

/// Writes texts with a trainer's weights. Texts are read anew for each token (WholeTexts), in a batch
/// of `rows` rows, or of as many as one request needs. A decoder's text ends where it has no room.
std::vector<std::vector<GeneratedText>> generate(TrainerCore& trainer,
                                                 std::span<const GenerationRequest> requests,
                                                 const GenerationHooks& hooks = {}, int rows = 8);

namespace detail {
/// Rows that a request needs.
inline int rows_of(const GenerationRequest& request) {
  return request.beams.beams > 1 ? request.beams.beams : request.results;
}
/// throws    ArgumentError if a request cannot be, for a vocabulary of `tokens`
void check_request(const GenerationRequest& request, int tokens);
}  // namespace detail

}  // namespace sinter
