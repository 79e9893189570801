// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/recipe/concepts.hpp"

namespace sinter {

/// Leaves gradients as they are. The norm is still measured, for the log and to find gradients that
/// are not finite.
struct NoClip {
  using slot = slot::clipping;
  struct Options {};
  static constexpr Options options{};
  static constexpr double scale(const Options&, double) { return 1; }
};

}  // namespace sinter
