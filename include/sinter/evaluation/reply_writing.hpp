// SPDX-License-Identifier: Apache-2.0
// The slot `evaluation`: what evaluations do beside the loss that costs time of its own.
#pragma once
#include <cstdint>
#include <string_view>

#include "sinter/batch/beams.hpp"

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
  double temperature = 0;  ///< logits are divided by it; at 0 the likeliest token is always taken
  int top_k = 0;           ///< draws only from the k likeliest tokens; 0: from all
  double top_p = 1;  ///< draws only from the likeliest tokens whose probabilities reach it together
  std::uint64_t seed = 0;  ///< seed of the draws; each example has draws of its own
  BeamOptions beams{};     ///< by default no beam search
};

}  // namespace sinter
