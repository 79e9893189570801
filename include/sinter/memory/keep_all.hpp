#pragma once
#include "sinter/recipe/concepts.hpp"

namespace sinter {

/// Keeps everything that backward reads. Fastest, and the default; use it when the model fits.
struct KeepAll {
  using slot = slot::memory;
  static constexpr bool recomputed_inside(const Layer&) { return false; }
};

}  // namespace sinter
