// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cmath>
#include <cstdio>
#include <string>

#include "sinter/data/batch_shape.hpp"
#include "sinter/policy/concepts.hpp"

namespace sinter {

namespace slot {
/// Whether the learning rate follows the batch (ScaledRate).
struct scaling {
  static constexpr std::string_view name = "scaling";
};
}  // namespace slot

/// By what the learning rate is multiplied.
enum ScalingRule : std::uint8_t {
  linear,  // by global / base (Goyal et al. 2017; for SGD, with a warm-up)
  root     // by √(global / base) (Krizhevsky 2014; for Adam and its kin)
};
/// The name of a rule, as flags and files have it.
constexpr std::string_view name_of(ScalingRule rule) { return rule == linear ? "linear" : "root"; }

struct ScaledRateOptions {
  ScalingRule rule = linear;  ///< how the rate follows the batch
  int base = 8;  ///< sequences of the global batch for which the learning rate was found
  SINTER_FIELDS((rule), (base).at_least(1).adjustable())
};

/// Scales the learning rate with the global batch, over all ranks, and says so. It is never done
/// unasked. If BatchWarmup changes the batch, it scales by the batch at hand.
template <ScaledRateOptions O>
struct ScaledRate {
  using slot = slot::scaling;
  using Options = ScaledRateOptions;
  static constexpr Options options = O;

  static double rate_factor(const Options& o, int sequences) {
    const double larger = double(sequences) / o.base;
    return O.rule == linear ? larger : std::sqrt(larger);
  }
  template <class R>
  static std::string note(const Options& o, const BatchLimits& limits) {
    char text[200];
    std::snprintf(text, sizeof text,
                  "the learning rate, found for batches of %d sequences, is multiplied by %g for "
                  "those of %d (%s rule)",
                  o.base, rate_factor(o, limits.sequences), limits.sequences,
                  O.rule == linear ? "linear" : "square root");
    return text;
  }
};

}  // namespace sinter
