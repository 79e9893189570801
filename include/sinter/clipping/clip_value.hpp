// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <limits>

#include "sinter/policy/concepts.hpp"

namespace sinter {

struct ClipValueOptions {
  double limit = 1.0;  ///< the largest absolute value of a gradient
  SINTER_FIELDS((limit).above(0).adjustable())
};

/// Clamps each gradient to [-limit, limit], as torch.nn.utils.clip_grad_value_ does.
template <ClipValueOptions O = {}>
struct ClipValue {
  using slot = slot::clipping;
  using Options = ClipValueOptions;
  static constexpr Options options = O;

  static constexpr double bound(const Options&) { return std::numeric_limits<double>::infinity(); }
  static constexpr double limit(const Options& o) { return o.limit; }
};

}  // namespace sinter
