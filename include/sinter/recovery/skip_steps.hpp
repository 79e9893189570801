// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/policy/concepts.hpp"
#include "sinter/recovery/reaction.hpp"
#include "sinter/run/step_figures.hpp"

namespace sinter {

struct SkipStepsOptions {
  int most = 10;  ///< steps in a row that may be skipped; training stops at the next
  SINTER_FIELDS((most).at_least(1).adjustable())
};

struct SkipStepsState {
  int skipped = 0;  ///< steps in a row, the last one included
  SINTER_FIELDS((skipped))
};

/// Goes on after a step that is not applied, with the next batch: weights, optimizer state, schedule
/// and step count stay as they were. One bad batch, such as a damaged file, then costs a step
/// instead of the run; a model that has diverged still stops it. (PyTorch Lightning and Megatron-LM
/// skip such steps, too; without a bound a diverged run would idle.) A loss scale, which expects
/// overflows and skips their steps itself, does so first: what counts here is where it cannot fall
/// any further.
template <SkipStepsOptions O = {}>
struct SkipSteps {
  using slot = slot::recovery;
  using Options = SkipStepsOptions;
  using State = SkipStepsState;
  static constexpr Options options = O;

  static constexpr Reaction recover(const Options& o, State& s, const StepFigures& step) {
    s.skipped = step.applied ? 0 : s.skipped + 1;
    return s.skipped <= o.most ? Reaction::skip : Reaction::stop;
  }
};

}  // namespace sinter
