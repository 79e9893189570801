// SPDX-License-Identifier: Apache-2.0
// The slot `precision`: the types of weights, activations, gradients and sums.
#pragma once
#include "sinter/policy/concepts.hpp"

namespace sinter {

/// Single precision throughout. This is the default.
struct Fp32 {
  using slot = slot::precision;
  static constexpr Offer offered{"Fp32"};
  using compute = float;
  using statistic = float;
  using gradient = float;
  using master = float;
  using accumulate = float;
};

}  // namespace sinter
