// SPDX-License-Identifier: Apache-2.0
// The slot `memory`: what is kept for backward, and what is recomputed.
#pragma once
#include "sinter/policy/concepts.hpp"

namespace sinter {

/// Keeps everything that backward reads. This is the default and the fastest; use it if the model
/// fits.
struct KeepAll {
  using slot = slot::memory;
  static constexpr bool recomputed_inside(const detail::Layer&) { return false; }
};

}  // namespace sinter
