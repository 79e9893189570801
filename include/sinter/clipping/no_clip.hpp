// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <limits>

#include "sinter/policy/concepts.hpp"

namespace sinter {

/// Leaves gradients unchanged. The norm is still measured, for the log and to detect gradients that
/// are not finite.
struct NoClip {
  using slot = slot::clipping;
  struct Options {};
  static constexpr Options options{};
  static constexpr double bound(const Options&) { return std::numeric_limits<double>::infinity(); }
};

}  // namespace sinter
