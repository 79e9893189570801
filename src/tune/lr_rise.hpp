// SPDX-License-Identifier: Apache-2.0
// The schedule of a learning-rate range test.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "sinter/policy/concepts.hpp"

namespace sinter::detail::tune {

/// What rises by equal factors from `low` in step 1 to `high` in step `steps`, and then stays.
inline double risen(double low, double high, std::int64_t steps, std::int64_t step) {
  const double part = steps > 1 ? double(step - 1) / double(steps - 1) : 1;
  return low * std::pow(high / low, std::min(part, 1.));
}

struct LrRiseOptions {
  double low = 1;          ///< the first step's factor
  double high = 1;         ///< the last step's factor
  std::int64_t steps = 0;  ///< the last step of the rise; 0: the run's last
  SINTER_FIELDS((low).above(0).adjustable(), (high).above(0).adjustable(),
                (steps).at_least(0).adjustable())
};

/// A schedule that rises by equal factors.
struct LrRise {
  using slot = slot::schedule;
  using Options = LrRiseOptions;
  static constexpr Options options{};
  static constexpr std::int64_t& horizon(Options& o) { return o.steps; }
  static double factor(const Options& o, std::int64_t step) {
    return risen(o.low, o.high, o.steps, step);
  }
};

}  // namespace sinter::detail::tune
