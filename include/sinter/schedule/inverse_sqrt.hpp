// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cmath>

#include "sinter/policy/concepts.hpp"
#include "sinter/schedule/warmup.hpp"

namespace sinter {

struct InverseSqrtOptions {
  std::int64_t warmup = 0;  ///< steps of linear growth
  /// Steps after the warm-up in which the factor falls to 1/√2. 0: as many as the warm-up has, or
  /// 10000 without warm-up.
  std::int64_t timescale = 0;
  SINTER_FIELDS((warmup).at_least(0).adjustable(), (timescale).at_least(0).adjustable())
};

/// Linear warm-up, then √(timescale / (timescale + steps after it)) (Vaswani et al. 2017). After
/// the warm-up it equals transformers' get_inverse_sqrt_schedule. It has no horizon.
template <InverseSqrtOptions O = {}>
struct InverseSqrt {
  using slot = slot::schedule;
  using Options = InverseSqrtOptions;
  static constexpr Options options = O;

  static double factor(const Options& o, std::int64_t step) {
    double scale = double(o.timescale > 0 ? o.timescale : o.warmup > 0 ? o.warmup : 10000);
    double since = double(std::max<std::int64_t>(step - 1 - o.warmup, 0));
    return detail::warmup_factor(step, o.warmup) * std::sqrt(scale / (scale + since));
  }
};

}  // namespace sinter
