// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cmath>
#include <numbers>

#include "sinter/policy/concepts.hpp"
#include "sinter/schedule/warmup.hpp"

namespace sinter {

/// How the factor falls from 1 to the floor. x grows from 0 to 1.
enum class DecayShape {
  linear,         // 1 - x
  cosine,         // (1 + cos(πx)) / 2
  one_minus_sqrt  // 1 - √x
};

/// The name of a shape in `describe` and files.
constexpr std::string_view name_of(DecayShape shape) {
  switch (shape) {
    case DecayShape::linear:
      return "linear";
    case DecayShape::cosine:
      return "cosine";
    case DecayShape::one_minus_sqrt:
      return "one_minus_sqrt";
  }
  return "";
}

struct WarmupStableDecayOptions {
  std::int64_t warmup = 0;   ///< steps of linear growth
  std::int64_t steps = 0;    ///< the horizon: the last step of the decay; 0: the run's last
  std::int64_t decay = 100;  ///< steps of the decay; must not overlap the warm-up
  double floor = 0;          ///< the factor beyond the horizon
  DecayShape shape = DecayShape::linear;  ///< how the factor falls
  SINTER_FIELDS((warmup).at_least(0).adjustable(), (steps).at_least(0).adjustable(),
                (decay).at_least(0).adjustable(), (floor).at_least(0).at_most(1).adjustable(),
                (shape))
};

/// Linear warm-up, then the optimizer's own rate, then a short decay to `floor`, reached one step
/// after the horizon (Hu et al. 2024, MiniCPM). After the warm-up it equals transformers'
/// get_wsd_schedule.
template <WarmupStableDecayOptions O = {}>
struct WarmupStableDecay {
  using slot = slot::schedule;
  using Options = WarmupStableDecayOptions;
  static constexpr Options options = O;
  static constexpr std::int64_t& horizon(Options& o) { return o.steps; }
  static constexpr Contradiction contradiction(const Options& o) {
    if (o.steps == 0 || (o.warmup <= o.steps && o.decay <= o.steps - o.warmup)) return {};
    return {"warmup and decay are beyond steps", "raise steps, or lower one of them"};
  }

  static double factor(const Options& o, std::int64_t step) {
    const double decay = shaped(o.shape, detail::decay_progress(step, o.steps - o.decay, o.steps));
    return detail::warmup_factor(step, o.warmup) * (o.floor + (1 - o.floor) * decay);
  }

 private:
  static double shaped(DecayShape shape, double x) {
    switch (shape) {
      case DecayShape::linear:
        break;
      case DecayShape::cosine:
        return (1 + std::cos(std::numbers::pi * x)) / 2;
      case DecayShape::one_minus_sqrt:
        return 1 - std::sqrt(x);
    }
    return 1 - x;
  }
};

}  // namespace sinter
