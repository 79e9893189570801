// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdio>
#include <string>

#include "sinter/data/batch_shape.hpp"
#include "sinter/error.hpp"
#include "sinter/policy/concepts.hpp"

namespace sinter {

namespace slot {
/// The slot of LengthWarmup, which grows the sequences.
struct length_warmup {
  static constexpr std::string_view name = "length_warmup";
};
}  // namespace slot

struct LengthWarmupOptions {
  int from = 64;                    ///< rows of the first sequences
  std::int64_t sequences = 100000;  ///< number of sequences until their length is the context
  int multiple = 8;                 ///< lengths of the ramp are multiples of this
  SINTER_FIELDS((from).at_least(1).adjustable(),
                (sequences).at_least(1).at_most(std::int64_t(1) << 32).adjustable(),
                (multiple).at_least(1).adjustable())
};

namespace detail {
/// True if sequences can grow from `from` to limits.length.
/// requires  the options are within their ranges
[[nodiscard]] constexpr bool is_length_ramp(const LengthWarmupOptions& o,
                                            const BatchLimits& limits) {
  return o.from % o.multiple == 0 && o.from <= limits.length;
}

SINTER_RULE(DataHaveSequences, R::data::context > 1,
            "LengthWarmup: these data have no sequences to cut. Why: each row is a sequence of its "
            "own (the context is 1). Fix: leave LengthWarmup out, or train on data with a context, "
            "such as Bytes.");
template <LengthWarmupOptions O>
SINTER_RULE(LengthFitsTheContext,
            !DataHaveSequences::holds<R> || is_length_ramp(O, {0, R::data::context, 1}),
            "LengthWarmup: the lengths do not fit the context. What: from must be a multiple of "
            "multiple and at most the data's context. Why: sequences grow from `from` to the "
            "context, and are never longer. Fix: a smaller from, or a larger context.");
}  // namespace detail

/// Sequence-length warm-up by truncation (Li et al. 2022, "The Stability-Efficiency Dilemma";
/// DeepSpeed's fixed_linear schedule). Every window is cut to its first `from` rows at the start.
/// The length grows linearly, in multiples of `multiple`, until windows are whole after `sequences`
/// sequences. Rows cut off are not predicted in that epoch. The length depends only on the
/// sequences consumed, which the data's sampler counts, so a resumed run continues the ramp. The
/// plan is for whole sequences and also serves short ones. With DialoguePairs, these are lengths of
/// replies; texts are cut in proportion.
template <LengthWarmupOptions O = {}>
struct LengthWarmup {
  using slot = slot::length_warmup;
  using Options = LengthWarmupOptions;
  using rules = RuleList<detail::DataHaveSequences, detail::LengthFitsTheContext<O>>;
  static constexpr Options options = O;

  static constexpr void next_batch(const Options& o, const BatchLimits& limits,
                                   std::uint64_t sequences, BatchShape& shape) {
    if (sequences >= std::uint64_t(o.sequences)) return;
    const auto further = std::uint64_t(limits.length - o.from) * sequences;
    const int length = o.from + int(further / std::uint64_t(o.sequences));
    shape.length = length - length % o.multiple;
  }
  static void check_batch(const Options& o, const BatchLimits& limits) {
    if (detail::is_length_ramp(o, limits)) return;
    throw ArgumentError("sequences cannot grow from " + std::to_string(o.from) + " to " +
                        std::to_string(limits.length) + " rows in steps of " +
                        std::to_string(o.multiple) +
                        ": length_warmup.from must be a multiple of "
                        ".multiple and at most the context. Change these options.");
  }
  template <class R>
  static std::string note(const Options& o, const BatchLimits& limits) {
    char text[240];
    std::snprintf(text, sizeof text,
                  "sequences are cut to %d rows, growing in steps of %d to %d over the first %lld "
                  "sequences",
                  o.from, o.multiple, limits.length, static_cast<long long>(o.sequences));
    return text;
  }
};

}  // namespace sinter
