// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/policy/concepts.hpp"

namespace sinter {

struct ClipNormOptions {
  double max = 1.0;  ///< the largest global norm
  SINTER_FIELDS((max).above(0).adjustable())
};

/// Scales all gradients together so that their global norm is at most `max`, as
/// torch.nn.utils.clip_grad_norm_ does: by max / (norm + 1e-6) where that is below 1.
template <ClipNormOptions O = {}>
struct ClipNorm {
  using slot = slot::clipping;
  using Options = ClipNormOptions;
  static constexpr Options options = O;

  static constexpr double bound(const Options& o) { return o.max; }
};

}  // namespace sinter
