// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/policy/concepts.hpp"
#include "sinter/recovery/reaction.hpp"
#include "sinter/run/step_figures.hpp"

namespace sinter {

struct SkipStepsOptions {
  int most = 10;  ///< maximum number of steps skipped in a row; training stops at the next
  SINTER_FIELDS((most).at_least(1).adjustable())
};

struct SkipStepsState {
  int skipped = 0;  ///< skipped steps in a row, the last one included
  SINTER_FIELDS((skipped))
};

/// Continues with the next batch after a step that is not applied: weights, optimizer state,
/// schedule and step count stay unchanged. One bad batch, such as a damaged file, then costs a step
/// instead of the run. A diverged model still stops the run; without the bound it would idle.
/// (PyTorch Lightning and Megatron-LM skip such steps, too.) A loss scale skips steps with
/// overflows itself; such steps count here only when the scale cannot fall any further.
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
