// SPDX-License-Identifier: Apache-2.0
// Which options of a beam search fit together.
#pragma once
#include "sinter/base/range.hpp"
#include "sinter/batch/beams.hpp"

namespace sinter::detail {

/// The contradiction between options of a beam search, if there is one.
constexpr Contradiction beam_contradiction(const BeamOptions& o) {
  const bool is_usual = o.early_stopping == BeamStopping::no &&
                        o.length_penalty == LengthPenalty::power && o.exponent == 1;
  if (o.beams == 1 && !is_usual)
    return {"without a beam search, early stopping and a length penalty have no effect",
            "leave them out, or ask for 2 beams or more"};
  if (o.length_penalty == LengthPenalty::none && o.exponent != 1)
    return {"without a length penalty, its exponent has no effect",
            "leave it out, or name a penalty"};
  return {};
}

}  // namespace sinter::detail
