// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cmath>

#include "sinter/policy/concepts.hpp"
#include "sinter/schedule/warmup.hpp"

namespace sinter {

struct PolynomialDecayOptions {
  std::int64_t warmup = 0;  ///< steps of linear growth
  std::int64_t steps = 0;   ///< the horizon: the last step of the decay; 0: the run's last
  double power = 1;         ///< exponent of the remaining fraction
  double floor = 0;         ///< the factor beyond the horizon
  SINTER_FIELDS((warmup).at_least(0).adjustable(), (steps).at_least(0).adjustable(),
                (power).at_least(0).adjustable(), (floor).at_least(0).at_most(1).adjustable())
};

/// Linear warm-up, then floor + (1 - floor) r^power. The remaining fraction r falls linearly from 1
/// to 0, reached one step after the horizon. After the warm-up it equals transformers'
/// get_polynomial_decay_schedule_with_warmup.
template <PolynomialDecayOptions O = {}>
struct PolynomialDecay {
  using slot = slot::schedule;
  using Options = PolynomialDecayOptions;
  static constexpr Options options = O;
  static constexpr std::int64_t& horizon(Options& o) { return o.steps; }
  static constexpr Contradiction contradiction(const Options& o) {
    return detail::warmup_contradiction(o.warmup, o.steps);
  }

  static double factor(const Options& o, std::int64_t step) {
    const double left = 1 - detail::decay_progress(step, o.warmup, o.steps);
    const double decay = left > 0 ? std::pow(left, o.power) : 0;
    return detail::warmup_factor(step, o.warmup) * (o.floor + (1 - o.floor) * decay);
  }
};

}  // namespace sinter
