// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cmath>
#include <numbers>

#include "sinter/policy/concepts.hpp"
#include "sinter/schedule/warmup.hpp"

namespace sinter {

struct CosineDecayOptions {
  std::int64_t warmup = 0;  ///< steps of linear growth
  std::int64_t steps = 0;   ///< the horizon: the last step of the decay; 0: the run's last
  double floor = 0;         ///< the factor beyond the horizon
  SINTER_FIELDS((warmup).at_least(0).adjustable(), (steps).at_least(0).adjustable(),
                (floor).at_least(0).at_most(1).adjustable())
};

/// Linear warm-up, then half a cosine from 1 down to `floor`, reached one step after the horizon
/// (Loshchilov and Hutter 2017).
template <CosineDecayOptions O = {}>
struct CosineDecay {
  using slot = slot::schedule;
  using Options = CosineDecayOptions;
  static constexpr Options options = O;
  static constexpr std::int64_t& horizon(Options& o) { return o.steps; }
  static constexpr Contradiction contradiction(const Options& o) {
    return detail::warmup_contradiction(o.warmup, o.steps);
  }

  static double factor(const Options& o, std::int64_t step) {
    double decay =
        (1 + std::cos(std::numbers::pi * detail::decay_progress(step, o.warmup, o.steps))) / 2;
    return detail::warmup_factor(step, o.warmup) * (o.floor + (1 - o.floor) * decay);
  }
};

}  // namespace sinter
