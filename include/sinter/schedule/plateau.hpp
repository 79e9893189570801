#pragma once
#include <cstdint>
#include <limits>

#include "sinter/recipe/concepts.hpp"
#include "sinter/schedule/warmup.hpp"

namespace sinter {

/// warmup: steps of linear growth; factor: what the rate is multiplied by after more than
/// `patience` evaluations in a row without a loss below best × (1 - threshold); cooldown:
/// evaluations after a change that do not count; floor: a share of the learning rate.
struct PlateauOptions {
  std::int64_t warmup = 0;
  double factor = 0.1;
  int patience = 10;
  double threshold = 1e-4;
  int cooldown = 0;
  double floor = 0;
  SINTER_FIELDS((warmup).at_least(0).adjustable(), (factor).above(0).below(1).adjustable(),
                (patience).at_least(0).adjustable(), (threshold).at_least(0).below(1).adjustable(),
                (cooldown).at_least(0).adjustable(), (floor).at_least(0).at_most(1).adjustable())
};

/// best: the lowest validation loss; waited: evaluations since; cooling: that still do not count;
/// factor: of the rate.
struct PlateauState {
  double best = std::numeric_limits<double>::max();
  int waited = 0, cooling = 0;
  double factor = 1;
  SINTER_FIELDS((best), (waited), (cooling), (factor))
};

/// Lowers the learning rate when the validation loss no longer falls: torch's ReduceLROnPlateau in
/// mode "min", told by each evaluation.
template <PlateauOptions O = {}>
struct Plateau {
  using slot = slot::schedule;
  using Options = PlateauOptions;
  using State = PlateauState;
  static constexpr Options options = O;

  static constexpr double factor(const Options& o, const State& s, std::int64_t step) {
    return warmup_factor(step, o.warmup) * s.factor;
  }
  static constexpr void after_evaluation(const Options& o, State& s, double loss) {
    if (loss < s.best * (1 - o.threshold)) {
      s.best = loss;
      s.waited = 0;
    } else {
      ++s.waited;
    }
    if (s.cooling > 0) {
      --s.cooling;
      s.waited = 0;
    }
    if (s.waited <= o.patience) return;
    s.factor = std::max(s.factor * o.factor, o.floor);
    s.cooling = o.cooldown;
    s.waited = 0;
  }
};

}  // namespace sinter
