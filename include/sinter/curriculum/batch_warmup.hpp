// SPDX-License-Identifier: Apache-2.0
// Growing batches. This folder holds the slots `batch_warmup` and `length_warmup`
// (length_warmup.hpp).
#pragma once
#include <cstdio>
#include <string>

#include "sinter/batch/batch.hpp"
#include "sinter/data/batch_shape.hpp"
#include "sinter/error.hpp"
#include "sinter/policy/claims.hpp"
#include "sinter/policy/concepts.hpp"

namespace sinter {

namespace slot {
/// The slot of BatchWarmup, which grows the global batch.
struct batch_warmup {
  static constexpr std::string_view name = "batch_warmup";
};
}  // namespace slot

struct BatchWarmupOptions {
  int from = 8;                     ///< sequences of the first global batches
  int increment = 0;                ///< sequences by which batches grow; 0: micro × ranks
  std::int64_t sequences = 100000;  ///< number of sequences after which all batches are whole
  SINTER_FIELDS((from).at_least(1).adjustable(), (increment).at_least(0).adjustable(),
                (sequences).at_least(1).at_most(std::int64_t(1) << 32).adjustable())
};

namespace detail {
/// True if every batch of the ramp is a multiple of limits.unit, and the last one is whole.
/// requires  the options are within their ranges
[[nodiscard]] constexpr bool is_ramp(const BatchWarmupOptions& o, const BatchLimits& limits) {
  const int increment = o.increment == 0 ? limits.unit : o.increment;
  return o.from <= limits.sequences && o.from % limits.unit == 0 && increment % limits.unit == 0 &&
         (limits.sequences - o.from) % increment == 0;
}

template <BatchWarmupOptions O>
SINTER_RULE(
    RampFitsTheBatch,
    is_ramp(O, {R::batch::options.global, R::data::context, sequences_at_once<R>}),
    "BatchWarmup: the ramp does not fit the batch. What: from and increment must be multiples of "
    "micro × ranks, from at most global, and the difference of the two a multiple of increment. "
    "Why: every step is a whole number of micro-batches, and the ramp ends at the global batch. "
    "Fix: choose from = global - n × increment, or leave increment out.");
}  // namespace detail

/// Batch-size warm-up (Smith et al. 2018; like Megatron-LM's --rampup-batch-size). The global batch
/// starts with `from` sequences and grows by equal increments until `sequences` have been consumed.
/// It depends only on the sequences consumed, which the data's sampler counts, so a resumed run
/// continues the ramp. The loss stays the mean over all predictions of the current batch, and
/// ScaledRate, if the recipe has it, scales by the current batch.
template <BatchWarmupOptions O = {}>
struct BatchWarmup {
  using slot = slot::batch_warmup;
  using Options = BatchWarmupOptions;
  using rules = RuleList<detail::RampFitsTheBatch<O>>;
  static constexpr Options options = O;

  static constexpr void next_batch(const Options& o, const BatchLimits& limits,
                                   std::uint64_t sequences, BatchShape& shape) {
    if (sequences >= std::uint64_t(o.sequences)) return;
    const int increment = o.increment == 0 ? limits.unit : o.increment;
    const auto increments = std::uint64_t((limits.sequences - o.from) / increment);
    shape.sequences = o.from + increment * int(sequences * increments / std::uint64_t(o.sequences));
  }
  static void check_batch(const Options& o, const BatchLimits& limits) {
    if (detail::is_ramp(o, limits)) return;
    throw ArgumentError(
        "the batch cannot grow from " + std::to_string(o.from) + " to " +
        std::to_string(limits.sequences) + " sequences" +
        (o.increment ? " by " + std::to_string(o.increment) : "") +
        ": batch_warmup.from and .increment must be multiples of " + std::to_string(limits.unit) +
        " (micro × ranks), from at most the global batch, and their difference a multiple of "
        "increment. Change these options, or batch.global.");
  }
  template <class R>
  static std::string note(const Options& o, const BatchLimits& limits) {
    char text[240];
    std::snprintf(
        text, sizeof text,
        "the batch grows from %d sequences by %d up to %d, over the first %lld sequences%s", o.from,
        o.increment == 0 ? limits.unit : o.increment, limits.sequences,
        static_cast<long long>(o.sequences),
        scales_rate(typename R::extras{}) ? "; the learning rate is scaled by the batch at hand"
                                          : "");
    return text;
  }

 private:
  template <class... Extras>
  static constexpr bool scales_rate(detail::PolicyList<Extras...>) {
    return (detail::hook::HasRateFactor<Extras> || ...);
  }
};

}  // namespace sinter
