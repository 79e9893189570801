// SPDX-License-Identifier: Apache-2.0
// Dynamic loss scaling, for gradients that a narrow type would round to zero.
#pragma once
#include <cstdint>
#include <string>

#include "sinter/error.hpp"
#include "sinter/policy/concepts.hpp"

namespace sinter {

/// The run state of a precision that scales the loss.
struct LossScale {
  double scale = 1;        ///< multiplies the loss
  std::int64_t clean = 0;  ///< steps applied since the scale changed
  SINTER_FIELDS((scale), (clean))
};

namespace detail {
/// Adapts the scale after a step, like torch.amp.GradScaler: doubles it after o.growth_interval
/// applied steps in a row, halves it after each step whose gradients are not finite.
/// throws    NonFiniteError if the scale would fall below o.minimum_scale
void adapt(LossScale& s, const auto& o, bool finite) {
  if (finite) {
    if (++s.clean < o.growth_interval) return;
    s = {s.scale * 2, 0};
    return;
  }
  if (s.scale / 2 < o.minimum_scale)
    throw NonFiniteError(
        "The loss scale is " + std::to_string(s.scale) +
        " and the gradients are still not finite; halved once more it would be below its minimum, "
        "precision.minimum_scale. So it is not fp16's range: the training itself diverges. A lower "
        "learning rate, a longer warm-up or a lower clipping bound may help.");
  s = {s.scale / 2, 0};
}
}  // namespace detail

}  // namespace sinter
