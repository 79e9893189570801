// SPDX-License-Identifier: Apache-2.0
// This folder holds the slot `memory`: what is kept for backward, and what is computed again.
#pragma once
#include "sinter/policy/concepts.hpp"

namespace sinter {

/// Keeps everything that backward reads. This is the default and the fastest; use it if the model
/// fits.
struct KeepAll {
  using slot = slot::memory;
  static constexpr bool recomputed_inside(const Layer&) { return false; }
};

}  // namespace sinter
