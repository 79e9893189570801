// SPDX-License-Identifier: Apache-2.0
// This folder holds the slot `recovery`: what a run does when a step goes wrong. Without a policy
// in it, training stops at a loss or gradient that is not finite.
#pragma once
#include "sinter/recipe/concepts.hpp"

namespace sinter {

namespace slot {
/// What a run does when a step goes wrong (SkipNonFinite).
struct recovery {
  static constexpr std::string_view name = "recovery";
  static constexpr bool decisive = false;
};
}  // namespace slot

struct SkipNonFiniteOptions {
  int most = 10;  ///< steps in a row that may be skipped; training stops at the next
  SINTER_FIELDS((most).at_least(1).adjustable())
};

struct SkipNonFiniteState {
  int skipped = 0;  ///< steps in a row, the last one included
  SINTER_FIELDS((skipped))
};

/// Goes on after a step whose loss or gradient is not finite, with the next batch: weights,
/// optimizer state, schedule and step count stay as they were. One bad batch, such as a damaged
/// file, then costs a step instead of the run; a model that has diverged still stops it. (PyTorch
/// Lightning and Megatron-LM skip such steps, too; without a bound a diverged run would idle.)
/// Beside a loss scale, which expects overflows and skips their steps itself, the bound is that of
/// the scale.
template <SkipNonFiniteOptions O = {}>
struct SkipNonFinite {
  using slot = slot::recovery;
  using Options = SkipNonFiniteOptions;
  using State = SkipNonFiniteState;
  static constexpr Options options = O;

  static constexpr bool after_step(const Options& o, State& s, bool finite) {
    s.skipped = finite ? 0 : s.skipped + 1;
    return s.skipped <= o.most;
  }
};

}  // namespace sinter
