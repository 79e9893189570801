// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cmath>
#include <cstdio>
#include <string>

#include "sinter/data/batch_shape.hpp"
#include "sinter/policy/concepts.hpp"

namespace sinter {

namespace slot {
/// The slot of ScaledRate, which scales the learning rate with the batch.
struct scaling {
  static constexpr std::string_view name = "scaling";
};
}  // namespace slot

/// The factor of the learning rate.
enum class ScalingRule : std::uint8_t {
  linear,  // global / base (Goyal et al. 2017; for SGD, with a warm-up)
  root     // √(global / base) (Krizhevsky 2014; for Adam and its variants)
};
/// The name of a rule in flags and files.
constexpr std::string_view name_of(ScalingRule rule) {
  return rule == ScalingRule::linear ? "linear" : "root";
}

struct ScaledRateOptions {
  ScalingRule rule = ScalingRule::linear;  ///< how the rate depends on the batch
  int base = 8;  ///< global batch, in sequences, for which the learning rate was tuned
  SINTER_FIELDS((rule), (base).at_least(1).adjustable())
};

/// Scales the learning rate with the global batch, over all ranks, and prints the factor. Off by
/// default. With BatchWarmup it scales by the current batch.
template <ScaledRateOptions O>
struct ScaledRate {
  using slot = slot::scaling;
  using Options = ScaledRateOptions;
  static constexpr Options options = O;

  static double rate_factor(const Options& o, int sequences) {
    const double larger = double(sequences) / o.base;
    return O.rule == ScalingRule::linear ? larger : std::sqrt(larger);
  }
  template <class R>
  static std::string note(const Options& o, const BatchLimits& limits) {
    char text[200];
    std::snprintf(text, sizeof text,
                  "the learning rate, found for batches of %d sequences, is multiplied by %g for "
                  "those of %d (%s rule)",
                  o.base, rate_factor(o, limits.sequences), limits.sequences,
                  O.rule == ScalingRule::linear ? "linear" : "square root");
    return text;
  }
};

}  // namespace sinter
