// SPDX-License-Identifier: Apache-2.0
// What somebody says of choosing tokens: a flag, or a recipe. Nothing is said of the rest.
#pragma once
#include <boost/hana/for_each.hpp>
#include <boost/hana/second.hpp>
#include <cstdint>

#include "sinter/base/fields.hpp"
#include "sinter/base/said.hpp"
#include "sinter/batch/beam_rules.hpp"

namespace sinter {

/// Settings of texts that are written, each of which may be left unsaid: then another says it, or a
/// default counts. sinter/generate/sampling.hpp says how the rules act.
struct SamplingSettings {
  detail::Said<std::int64_t> tokens{};      ///< most tokens to write
  detail::Said<std::int64_t> min_tokens{};  ///< a text does not end before as many are written
  detail::Said<double> temperature{};       ///< of draws; 0 always takes the likeliest token
  detail::Said<int> top_k{};                ///< draws are from the k likeliest tokens; 0: from all
  detail::Said<double> top_p{};  ///< draws are from the likeliest that reach this probability
  detail::Said<double> min_p{};  ///< draws are from tokens as likely as this beside the likeliest
  detail::Said<double> typical_p{};              ///< draws are from the most typical that reach it
  detail::Said<double> repetition_penalty{};     ///< divides logits of tokens that the text has
  detail::Said<double> frequency_penalty{};      ///< for each time that a token was written
  detail::Said<double> presence_penalty{};       ///< once for a token that was written
  detail::Said<int> no_repeat_ngram{};           ///< forbids as many tokens of the text again
  detail::Said<int> no_repeat_written_ngram{};   ///< forbids as many of what was written again
  detail::Said<int> no_repeat_prompt_ngram{};    ///< forbids as many of the prompt
  detail::Said<int> beams{};                     ///< hypotheses of a beam search; 1 searches none
  detail::Said<int> results{};                   ///< texts to write behind each prompt
  detail::Said<BeamStopping> early_stopping{};   ///< when a beam search ends
  detail::Said<LengthPenalty> length_penalty{};  ///< what divides scores of hypotheses
  detail::Said<double> length_exponent{};        ///< of the penalty
  SINTER_FIELDS((tokens).at_least(1), (min_tokens).at_least(0), (temperature).at_least(0),
                (top_k).at_least(0), (top_p).above(0).at_most(1), (min_p).at_least(0).at_most(1),
                (typical_p).above(0).at_most(1), (repetition_penalty).above(0).at_most(100),
                (frequency_penalty).at_least(-100).at_most(100),
                (presence_penalty).at_least(-100).at_most(100), (no_repeat_ngram).at_least(0),
                (no_repeat_written_ngram).at_least(0), (no_repeat_prompt_ngram).at_least(0),
                (beams).at_least(1).at_most(4096), (results).at_least(1).at_most(4096),
                (early_stopping), (length_penalty), (length_exponent).at_least(-100).at_most(100))

  /// True if they say how to draw, other than by what changes nothing.
  constexpr bool ask_for_draws() const { return temperature.value_or(0) > 0 || narrow_draws(); }
  /// True if they say from which tokens to draw, and not from all.
  constexpr bool narrow_draws() const {
    return top_k.value_or(0) > 1 || top_p.value_or(1) < 1 || min_p.value_or(0) > 0 ||
           typical_p.value_or(1) < 1;
  }
  /// The beam search that they say, with defaults for the rest.
  constexpr BeamOptions beam_options() const {
    const BeamOptions usual;
    return {beams.value_or(usual.beams), early_stopping.value_or(usual.early_stopping),
            length_penalty.value_or(usual.length_penalty),
            length_exponent.value_or(usual.exponent)};
  }
  /// These settings, and those of `lower` where these leave something unsaid.
  constexpr SamplingSettings over(const SamplingSettings& lower) const {
    SamplingSettings both = *this;
    boost::hana::for_each(boost::hana::accessors<SamplingSettings>(), [&](auto accessor) {
      auto& said = boost::hana::second(accessor)(both);
      if (!said) said = boost::hana::second(accessor)(lower);
    });
    return both;
  }
};

namespace detail {

/// The contradiction between settings that one says, if there is one.
constexpr Contradiction sampling_contradiction(const SamplingSettings& s) {
  const int beams = s.beams.value_or(1);
  if (s.temperature == 0. && s.narrow_draws())
    return {"at temperature 0 nothing is drawn", "leave out what is said of draws"};
  if (s.tokens && s.min_tokens.value_or(0) > *s.tokens)
    return {"more min_tokens than tokens", "raise tokens or lower min_tokens"};
  if (s.results.value_or(1) > 1 && beams == 1 && s.temperature == 0.)
    return {"all results would be equal", "ask for beams, or for draws"};
  if (beams > 1 && s.results.value_or(1) > beams)
    return {"more results than beams", "ask for fewer results"};
  return beam_contradiction(s.beam_options());
}

}  // namespace detail
}  // namespace sinter
