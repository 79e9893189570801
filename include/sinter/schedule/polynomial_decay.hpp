#pragma once
#include <cmath>

#include "sinter/recipe/concepts.hpp"
#include "sinter/schedule/warmup.hpp"

namespace sinter {

/// warmup: steps of linear growth; steps: the horizon; power: of what is left of the way there;
/// floor: the factor beyond it.
struct PolynomialDecayOptions {
  std::int64_t warmup = 0, steps = 1000;
  double power = 1, floor = 0;
};

/// Linear warm-up, then floor + (1 - floor) (what is left)^power, where what is left falls linearly
/// from 1 to 0; `floor` (a share of the learning rate) is reached with the step after the horizon.
/// As transformers' get_polynomial_decay_schedule_with_warmup after the warm-up.
template <PolynomialDecayOptions O = {}>
struct PolynomialDecay {
  using slot = slot::schedule;
  using Options = PolynomialDecayOptions;
  static constexpr Options options = O;
  static constexpr std::array ranges{Range("warmup").at_least(0), Range("steps").at_least(1),
                                     Range("power").at_least(0),
                                     Range("floor").at_least(0).at_most(1)};
  static constexpr std::array<std::string_view, 4> adjustable{"warmup", "steps", "power", "floor"};
  static constexpr Contradiction contradiction(const Options& o) {
    return warmup_contradiction(o.warmup, o.steps);
  }

  static double factor(const Options& o, std::int64_t step) {
    const double left = 1 - decay_progress(step, o.warmup, o.steps);
    const double decay = left > 0 ? std::pow(left, o.power) : 0;
    return warmup_factor(step, o.warmup) * (o.floor + (1 - o.floor) * decay);
  }
};

}  // namespace sinter

BOOST_HANA_ADAPT_STRUCT(sinter::PolynomialDecayOptions, warmup, steps, power, floor);
