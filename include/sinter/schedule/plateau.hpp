// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <limits>

#include "sinter/policy/concepts.hpp"
#include "sinter/schedule/warmup.hpp"

namespace sinter {

/// Options of Plateau. The rate is lowered after more than `patience` evaluations in a row whose
/// loss is not below best × (1 - threshold).
struct PlateauOptions {
  std::int64_t warmup = 0;  ///< steps of linear growth
  double factor = 0.1;      ///< multiplies the rate when it is lowered
  int patience = 10;        ///< allowed evaluations in a row without a lower loss
  double threshold = 1e-4;  ///< relative decrease from which a loss counts as lower
  int cooldown = 0;         ///< evaluations that do not count after the rate was lowered
  double floor = 0;         ///< minimum factor of the learning rate
  SINTER_FIELDS((warmup).at_least(0).adjustable(), (factor).above(0).below(1).adjustable(),
                (patience).at_least(0).adjustable(), (threshold).at_least(0).below(1).adjustable(),
                (cooldown).at_least(0).adjustable(), (floor).at_least(0).at_most(1).adjustable())
};

struct PlateauState {
  double best = std::numeric_limits<double>::max();  ///< the lowest validation loss
  int waited = 0;                                    ///< evaluations in a row without a lower loss
  int cooling = 0;                                   ///< remaining evaluations that do not count
  double factor = 1;                                 ///< factor of the learning rate
  SINTER_FIELDS((best), (waited), (cooling), (factor))
};

/// Lowers the learning rate when the validation loss stops falling, like torch's ReduceLROnPlateau
/// in mode "min". Each evaluation counts as one of its epochs.
template <PlateauOptions O = {}>
struct Plateau {
  using slot = slot::schedule;
  using Options = PlateauOptions;
  using State = PlateauState;
  static constexpr Options options = O;

  static constexpr double factor(const Options& o, const State& s, std::int64_t step) {
    return detail::warmup_factor(step, o.warmup) * s.factor;
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
