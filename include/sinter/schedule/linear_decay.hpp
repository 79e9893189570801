// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/policy/concepts.hpp"
#include "sinter/schedule/warmup.hpp"

namespace sinter {

struct LinearDecayOptions {
  std::int64_t warmup = 0;  ///< steps of linear growth
  std::int64_t steps = 0;   ///< the horizon: the last step of the decay; 0: the run's last
  SINTER_FIELDS((warmup).at_least(0).adjustable(), (steps).at_least(0).adjustable())
};

/// Linear warm-up, then linear decay to zero, reached one step after the horizon.
template <LinearDecayOptions O = {}>
struct LinearDecay {
  using slot = slot::schedule;
  using Options = LinearDecayOptions;
  static constexpr Options options = O;
  static constexpr std::int64_t& horizon(Options& o) { return o.steps; }
  static constexpr Contradiction contradiction(const Options& o) {
    return detail::warmup_contradiction(o.warmup, o.steps);
  }

  static constexpr double factor(const Options& o, std::int64_t step) {
    return detail::warmup_factor(step, o.warmup) *
           (1 - detail::decay_progress(step, o.warmup, o.steps));
  }
};

}  // namespace sinter
