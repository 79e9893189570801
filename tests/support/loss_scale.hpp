// SPDX-License-Identifier: Apache-2.0
// A precision whose loss scale changes no bit of a step, for tests of what scales do.
#pragma once
#include "sinter/precision/fp32.hpp"
#include "sinter/precision/loss_scale.hpp"

namespace sinter::detail::testing {

struct ScaledOptions {
  double initial_scale = 1024;
  std::int64_t growth_interval = 2000;
  double minimum_scale = 1.0 / 32;
  SINTER_FIELDS((initial_scale), (growth_interval), (minimum_scale))
};

/// Fp32 with a loss scale. A power of two changes no bit of what a step does.
template <ScaledOptions O = {}>
struct Scaled : Fp32 {
  using Options = ScaledOptions;
  static constexpr Options options = O;
  using State = LossScale;
  static constexpr State initial(const Options& o) { return {o.initial_scale}; }
  static constexpr double loss_scale(const State& s) { return s.scale; }
  static bool after_step(const Options& o, State& s, bool finite) {
    adapt(s, o, finite);
    return true;
  }
};

}  // namespace sinter::detail::testing
