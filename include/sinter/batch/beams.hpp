// SPDX-License-Identifier: Apache-2.0
// How a beam search chooses among hypotheses.
#pragma once
#include <string_view>

namespace sinter {

/// When a beam search ends before the limit. In each case as many hypotheses as beams have ended by
/// then. The words are those of transformers.
enum class BeamStopping {
  no,    ///< the best that runs, divided by the penalty at its length, is no better than the worst
         ///< that ended
  yes,   ///< at once
  never  ///< as `no`, but what runs is judged by the longest length where that favours it
};
/// The word of transformers for a choice, as options print it.
constexpr std::string_view name_of(BeamStopping stopping) {
  return stopping == BeamStopping::no ? "false" : stopping == BeamStopping::yes ? "true" : "never";
}

/// What the sum of a hypothesis' log-probabilities is divided by. n is the number of tokens written,
/// the one that ends the text included; the exponent is BeamOptions::exponent.
enum class LengthPenalty {
  power,  ///< n ^ exponent, as transformers
  wu,   ///< ((n + 2) / 6) ^ exponent, as ParlAI, which counts a start token (after Wu et al. 2016)
  none  ///< 1
};
/// The word of `generate` for a choice, as options print it.
constexpr std::string_view name_of(LengthPenalty penalty) {
  return penalty == LengthPenalty::power ? "power" : penalty == LengthPenalty::wu ? "wu" : "none";
}

/// A beam search, by the rules of transformers. A positive temperature draws hypotheses without
/// replacement, where one of 0 takes the best.
struct BeamOptions {
  int beams = 1;                                   ///< hypotheses that run at once; 1 searches none
  BeamStopping early_stopping = BeamStopping::no;  ///< when the search ends
  LengthPenalty length_penalty = LengthPenalty::power;  ///< what divides scores
  double exponent = 1;  ///< above 0 long texts are favoured, below 0 short ones
};

}  // namespace sinter
