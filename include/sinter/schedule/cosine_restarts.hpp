// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cmath>
#include <numbers>

#include "sinter/policy/concepts.hpp"
#include "sinter/schedule/warmup.hpp"

namespace sinter {

struct CosineRestartsOptions {
  std::int64_t warmup = 0;    ///< steps of linear growth
  std::int64_t cycle = 1000;  ///< steps of the first cycle
  double growth = 1;          ///< ratio of each cycle's length to the previous one's
  double floor = 0;           ///< the factor at the end of each cycle
  SINTER_FIELDS((warmup).at_least(0).adjustable(), (cycle).at_least(1).adjustable(),
                (growth).at_least(1).adjustable(), (floor).at_least(0).at_most(1).adjustable())
};

/// SGDR (Loshchilov and Hutter 2017): linear warm-up, then cycles of half a cosine, each from 1
/// down to `floor`. It has no horizon.
template <CosineRestartsOptions O = {}>
struct CosineRestarts {
  using slot = slot::schedule;
  using Options = CosineRestartsOptions;
  static constexpr Options options = O;

  static double factor(const Options& o, std::int64_t step) {
    const double decay = (1 + std::cos(std::numbers::pi * share_of_cycle(o, step))) / 2;
    return detail::warmup_factor(step, o.warmup) * (o.floor + (1 - o.floor) * decay);
  }

 private:
  /// Fraction of the step's cycle that is done, in [0, 1).
  static double share_of_cycle(const Options& o, std::int64_t step) {
    const std::int64_t done = std::max<std::int64_t>(step - 1 - o.warmup, 0);
    if (o.growth == 1) return double(done % o.cycle) / double(o.cycle);
    const double more = o.growth - 1, steps = double(done), length = double(o.cycle);
    auto start = [&](double cycle) { return length * (std::pow(o.growth, cycle) - 1) / more; };
    double cycle = std::floor(std::log1p(steps * more / length) / std::log1p(more));
    if (start(cycle + 1) <= steps) ++cycle;  // corrects rounding of the logarithms
    if (start(cycle) > steps) --cycle;
    const double share = (steps - start(cycle)) / (length * std::pow(o.growth, cycle));
    return std::clamp(share, 0.0, 1.0);
  }
};

}  // namespace sinter
