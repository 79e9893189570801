// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/policy/concepts.hpp"
#include "sinter/recovery/reaction.hpp"
#include "sinter/run/step_figures.hpp"

namespace sinter {

struct RollBackOptions {
  int most = 3;              ///< maximum number of rollbacks of a run; training stops at the next
  double factor = 0.5;       ///< multiplies the learning rate each time
  bool skip_batches = true;  ///< true if batches since the checkpoint are not seen again
  int skips = 0;             ///< steps in a row that are skipped before a rollback
  SINTER_FIELDS((most).at_least(1).adjustable(), (factor).above(0).at_most(1).adjustable(),
                (skip_batches).adjustable(), (skips).at_least(0).adjustable())
};

struct RollBackState {
  int rolled_back = 0;  ///< number of rollbacks so far
  double factor = 1;    ///< factor of the learning rate
  int skipped = 0;      ///< skipped steps in a row, the last one included
  SINTER_FIELDS((rolled_back), (factor), (skipped))
};

/// Returns to the newest good checkpoint when a step is not applied, and continues at a lower rate:
/// OPT-175B (Zhang et al. 2022) was trained with this remedy by hand. Batches since the checkpoint
/// are skipped, as for PaLM (Chowdhery et al. 2022, section 5.1), since a failure may depend on
/// batches and weights together; without skip_batches they are seen again.
template <RollBackOptions O = {}>
struct RollBack {
  using slot = slot::recovery;
  using Options = RollBackOptions;
  using State = RollBackState;
  static constexpr Options options = O;
  static constexpr Contradiction contradiction(const Options& o) {
    if (o.factor < 1 || o.skip_batches) return {};
    return {"the same steps would fail again", "lower factor, or skip_batches"};
  }

  static constexpr double rate_factor(const Options&, const State& s, int) { return s.factor; }
  static constexpr Reaction recover(const Options& o, State& s, const StepFigures& step) {
    s.skipped = step.applied ? 0 : s.skipped + 1;
    if (s.skipped <= o.skips) return Reaction::skip;
    if (s.rolled_back >= o.most) return Reaction::stop;
    s.skipped = 0;
    ++s.rolled_back;
    s.factor *= o.factor;
    return o.skip_batches ? Reaction::roll_back : Reaction::repeat;
  }
};

}  // namespace sinter
