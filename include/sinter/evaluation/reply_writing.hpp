// SPDX-License-Identifier: Apache-2.0
// The slot `evaluation`: what evaluations do beside the loss that costs time of its own.
#pragma once
#include <cstdint>
#include <string_view>

#include "sinter/batch/sampling_settings.hpp"

namespace sinter {

namespace slot {
/// The slot of what evaluations write (Evaluate, SkipGeneration).
struct evaluation {
  static constexpr std::string_view name = "evaluation";
  static constexpr bool decisive = false;
};
}  // namespace slot

/// How evaluations write replies to examples, for metrics of texts.
struct ReplyWriting {
  std::int64_t examples =
      0;  ///< writes to the first examples of the data, as many as this; 0: to all
  std::int64_t tokens =
      0;                   ///< maximum tokens of a reply; 0: as many as the data's replies may have
  std::uint64_t seed = 0;  ///< seed of the draws; each example has draws of its own
  /// How tokens are chosen; `tokens` and `results` have no effect. By default the likeliest one is.
  SamplingSettings sampling{.temperature = 0.};
  bool obeys_recipe = false;  ///< true if the recipe says what `sampling` leaves unsaid

  /// This, with what the recipe says if it is obeyed. The likeliest token is then taken unless somebody
  /// says how to draw.
  constexpr ReplyWriting with(const SamplingSettings& of_recipe) const {
    ReplyWriting all = *this;
    if (!obeys_recipe) return all;
    all.sampling = sampling.over(of_recipe);
    if (!all.sampling.ask_for_draws()) all.sampling.temperature = 0;
    if (tokens == 0) all.tokens = all.sampling.tokens.value_or(0);
    return all;
  }
};

}  // namespace sinter
