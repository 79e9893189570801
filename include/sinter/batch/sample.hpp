// SPDX-License-Identifier: Apache-2.0
// The slot `sampling`: how a recipe's texts are written where nobody else says it.
#pragma once
#include "sinter/batch/generation.hpp"
#include "sinter/batch/sampling_settings.hpp"
#include "sinter/policy/concepts.hpp"

namespace sinter {

namespace slot {
/// The slot of Sample.
struct sampling {
  static constexpr std::string_view name = "sampling";
  static constexpr bool decisive = false;
};
}  // namespace slot

namespace detail {
/// What the recipe R says of choosing tokens.
template <class R>
constexpr SamplingSettings sampling_of() {
  SamplingSettings found;
  for_each_policy(typename R::all{}, [&]<hook::SaysSampling P>(P*) { found = P::sampling; });
  return found;
}
/// The texts that such settings have at once behind one prompt.
constexpr int rows_of(const SamplingSettings& settings) {
  return std::max(settings.beams.value_or(1), settings.results.value_or(1));
}

SINTER_RULE(TextsAreSampled, R::data::vocabulary > 0,
            "Sample: these data have no vocabulary. Why: the policy says how tokens of texts are "
            "chosen, and would do nothing here. Fix: leave it out, or train on texts.");
SINTER_RULE(
    SamplesHaveRows,
    (rows_of(sampling_of<R>()) <= R::template Pick<slot::generation, Generation<>>::options.rows),
    "Sample: more beams or results than rows. Why: each hypothesis of a beam search and each "
    "result takes a row of the caches, and all of one prompt are there at once. Fix: raise the "
    ".rows of Generation, or ask for fewer.");
}  // namespace detail

/// How `generate`, `chat` and Generator::request() write, where no flag says otherwise:
/// Sample<{.temperature = 0.7, .top_p = 0.9}>, Sample<{.beams = 4}>. What it leaves unsaid, the model's
/// generation_config.json says, or else Sinter's defaults. Evaluate obeys it, too, unless it says itself
/// how it generates. Training needs none of it.
template <SamplingSettings O = {}>
struct Sample {
  using slot = slot::sampling;
  using Options = SamplingSettings;
  using rules = RuleList<detail::TextsAreSampled, detail::SamplesHaveRows>;
  static constexpr Options options = O;
  static constexpr SamplingSettings sampling = O;  ///< what the recipe says

  static constexpr Contradiction contradiction(const Options& o) {
    return detail::sampling_contradiction(o);
  }
};

}  // namespace sinter
