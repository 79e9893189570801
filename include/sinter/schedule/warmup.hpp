// SPDX-License-Identifier: Apache-2.0
// Common parts of schedules with a warm-up.
#pragma once
#include <cstdint>

#include "sinter/base/range.hpp"

namespace sinter::detail {

/// The factor step / warmup in the first `warmup` steps, and 1 from then on. Steps are counted from
/// 1, so no step has a rate of zero.
constexpr double warmup_factor(std::int64_t step, std::int64_t warmup) {
  return step < warmup ? double(step) / double(warmup) : 1;
}

/// Returns what is wrong if the warm-up does not end by the horizon `steps`; nothing where that is
/// 0, the run's length.
[[nodiscard]] constexpr Contradiction warmup_contradiction(std::int64_t warmup,
                                                           std::int64_t steps) {
  if (steps == 0 || warmup <= steps) return {};
  return {"the warm-up is beyond the horizon", "raise steps, or lower warmup"};
}

/// Fraction of the decay that is done before a step: 0 up to the first step after the warm-up, then
/// growing linearly to 1 at step `steps` + 1 and beyond.
constexpr double decay_progress(std::int64_t step, std::int64_t warmup, std::int64_t steps) {
  if (step > steps) return 1;  // even during warm-up
  std::int64_t done = step - 1 - warmup;
  return done > 0 ? double(done) / double(steps - warmup) : 0;
}

}  // namespace sinter::detail
