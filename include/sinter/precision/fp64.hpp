// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/policy/concepts.hpp"

namespace sinter {

/// Double precision throughout, for gradient checks.
struct Fp64 {
  using slot = slot::precision;
  using compute = double;
  using statistic = double;
  using gradient = double;
  using master = double;
  using accumulate = double;
};

}  // namespace sinter
