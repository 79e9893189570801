#pragma once
#include <cmath>
#include <cstdio>
#include <string>

#include "../concepts.hpp"

namespace sinter {

namespace slot {
struct scaling {
  static constexpr std::string_view name = "scaling";
};
}  // namespace slot

enum ScalingRule : std::uint8_t {
  linear,  // × global / base (Goyal et al. 2017; for SGD, with a warm-up)
  root     // × √(global / base) (Krizhevsky 2014; for Adam and its kin)
};
constexpr std::string_view name_of(ScalingRule rule) { return rule == linear ? "linear" : "root"; }

/// base: the global batch, in sequences, for which the optimizer's learning rate was found.
struct ScaledRateOptions {
  ScalingRule rule = linear;
  int base = 8;
};

/// Scales the learning rate with the global batch, over all ranks, and says so: an explicit policy,
/// never done unasked. Where BatchWarmup changes the batch, it scales by the batch at hand.
template <ScaledRateOptions O>
struct ScaledRate {
  static_assert(O.base > 0, "ScaledRate: base, a number of sequences, must be at least 1.");
  using slot = slot::scaling;
  using Options = ScaledRateOptions;
  static constexpr Options options = O;

  static double rate_factor(const Options& o, int sequences) {
    const double larger = double(sequences) / o.base;
    return O.rule == linear ? larger : std::sqrt(larger);
  }
  static std::string note(const Options& o, int global, double rate) {
    char text[200];
    std::snprintf(text, sizeof text,
                  "the learning rate is scaled: %g for %d sequences makes %g for %d (%s rule)",
                  rate, o.base, rate * rate_factor(o, global), global,
                  O.rule == linear ? "linear" : "square root");
    return text;
  }
};

}  // namespace sinter

BOOST_HANA_ADAPT_STRUCT(sinter::ScaledRateOptions, rule, base);
