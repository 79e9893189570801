// SPDX-License-Identifier: Apache-2.0
// Batch sizes. This folder holds the slots `batch`, `row_padding` (pad_rows.hpp) and `scaling`
// (scaled_rate.hpp); batches that grow are in curriculum/.
#pragma once
#include <string>
#include <vector>

#include "sinter/policy/concepts.hpp"

namespace sinter {

struct BatchOptions {
  int global = 8;  ///< sequences of one step, over all ranks
  int micro = 8;   ///< sequences that a rank computes at once; activation memory grows with them
  SINTER_FIELDS((global).at_least(1).adjustable(), (micro).at_least(1))
};

namespace detail {
/// Number of sequences that all ranks together compute at once, by the options of the type. A
/// global batch is a multiple of it.
template <class R>
inline constexpr int sequences_at_once = R::batch::micro * R::parallel::ranks(R::parallel::options);

/// The rule for options in the recipe's type. Those of flags are checked when the trainer is made.
SINTER_RULE(MicroDividesGlobal, R::batch::options.global % sequences_at_once<R> == 0,
            "Batch: micro × ranks does not divide global. Why: a step is a whole number of "
            "micro-batches on every rank, so that every step sees the same number of sequences. "
            "Fix: make global a multiple of micro × ranks.",
            "micro × ranks does not divide global");
}  // namespace detail

/// The batch size. Gradients are accumulated exactly over the micro-batches of a global batch: the
/// loss is the mean over all predictions of the global batch, however it is split.
template <BatchOptions O = {}>
struct Batch {
  using slot = slot::batch;
  using Options = BatchOptions;
  using rules = RuleList<detail::MicroDividesGlobal>;
  static constexpr Options options = O;
  static constexpr int micro = O.micro;
};

namespace detail {
/// A suggestion of smaller micro-batches, which need less memory.
struct SmallerMicroBatch {
  int micro;  ///< sequences
  int cost;   ///< relative cost; see Offer::cost

  /// The suggestion as `describe` prints it.
  std::string words() const {
    return "Batch<{.micro = " + std::to_string(micro) + "}>, accumulating";
  }
};
/// Suggestions of micro-batches smaller than `micro`: half of it, and single sequences.
[[nodiscard]] inline std::vector<SmallerMicroBatch> smaller_micro_batches(int micro) {
  std::vector<SmallerMicroBatch> offers;
  if (micro > 2 && micro % 2 == 0) offers.push_back({micro / 2, 1});
  if (micro > 1) offers.push_back({1, 10});
  return offers;
}
}  // namespace detail

}  // namespace sinter
