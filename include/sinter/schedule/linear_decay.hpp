#pragma once
#include "sinter/recipe/concepts.hpp"
#include "sinter/schedule/warmup.hpp"

namespace sinter {

/// warmup: steps of linear growth; steps: the horizon, at whose end the rate is zero.
struct LinearDecayOptions {
  std::int64_t warmup = 0, steps = 1000;
};

/// Linear warm-up, then linear decay towards zero at the horizon; zero beyond it.
template <LinearDecayOptions O = {}>
struct LinearDecay {
  using slot = slot::schedule;
  using Options = LinearDecayOptions;
  static constexpr Options options = O;
  static constexpr std::array ranges{Range("warmup").at_least(0), Range("steps").at_least(1)};
  static constexpr std::array<std::string_view, 2> adjustable{"warmup", "steps"};
  static constexpr Contradiction contradiction(const Options& o) {
    return warmup_contradiction(o.warmup, o.steps);
  }

  static constexpr double factor(const Options& o, std::int64_t step) {
    return warmup_factor(step, o.warmup) * (1 - decay_progress(step, o.warmup, o.steps));
  }
};

}  // namespace sinter

BOOST_HANA_ADAPT_STRUCT(sinter::LinearDecayOptions, warmup, steps);
