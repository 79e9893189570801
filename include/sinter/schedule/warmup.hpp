// What the decaying schedules share.
#pragma once
#include <cstdint>

#include "sinter/recipe/range.hpp"

namespace sinter {

/// step / warmup in the first `warmup` steps (from 1, so that no step is wasted on a rate of zero),
/// 1 from then on.
constexpr double warmup_factor(std::int64_t step, std::int64_t warmup) {
  return step < warmup ? double(step) / double(warmup) : 1;
}

/// A warm-up must end by the horizon.
constexpr Contradiction warmup_contradiction(std::int64_t warmup, std::int64_t steps) {
  if (warmup <= steps) return {};
  return {"the warm-up is beyond the horizon", "raise steps, or lower warmup"};
}

/// How much of the decay lies behind: 0 up to the end of the warm-up, then growing by the same
/// amount each step; it would reach 1 at step `steps` + 1, and stays there.
constexpr double decay_progress(std::int64_t step, std::int64_t warmup, std::int64_t steps) {
  if (step > steps) return 1;  // also where the warm-up would not be over yet
  std::int64_t done = step - 1 - warmup;
  return done > 0 ? double(done) / double(steps - warmup) : 0;
}

}  // namespace sinter
