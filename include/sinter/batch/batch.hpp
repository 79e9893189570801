#pragma once
#include <string>
#include <vector>

#include "sinter/recipe/concepts.hpp"

namespace sinter {

/// In sequences. global: of one optimizer step, over all ranks; micro: computed at once on a rank,
/// the budget of activation memory.
struct BatchOptions {
  int global = 8, micro = 8;
  SINTER_FIELDS((global).at_least(1).adjustable(), (micro).at_least(1))
};

/// Sequences that all ranks compute at once, before flags: a global batch is a multiple of it.
template <class R>
inline constexpr int sequences_at_once = R::batch::micro * R::parallel::ranks(R::parallel::options);

/// Ranks that a flag sets are checked when the trainer is made.
struct MicroDividesGlobal {
  template <class R>
  static constexpr bool holds = R::batch::options.global % sequences_at_once<R> == 0;
  template <class R>
  static auto enforce() {
    static_assert(holds<R>,
                  "Batch: micro × ranks does not divide global. Why: a step is a whole number of "
                  "micro-batches on every rank, so that every step sees the same number of "
                  "sequences. Fix: make global a multiple of micro × ranks.");
  }
};

/// Gradients of global / micro micro-batches are accumulated exactly: the loss is the mean over all
/// predictions of the global batch, however it is split.
template <BatchOptions O = {}>
struct Batch {
  using slot = slot::batch;
  using Options = BatchOptions;
  using rules = RuleList<MicroDividesGlobal>;
  static constexpr Options options = O;
  static constexpr int micro = O.micro;
};

/// Micro-batches of fewer sequences, which need less memory, and what they cost (Offer::cost).
struct SmallerMicroBatch {
  int micro, cost;

  /// As `describe` offers them.
  std::string words() const {
    return "Batch<{.micro = " + std::to_string(micro) + "}>, accumulating";
  }
};
/// Those that are worth a try in place of `micro`: half of it, and single sequences.
inline std::vector<SmallerMicroBatch> smaller_micro_batches(int micro) {
  std::vector<SmallerMicroBatch> offers;
  if (micro > 2 && micro % 2 == 0) offers.push_back({micro / 2, 1});
  if (micro > 1) offers.push_back({1, 10});
  return offers;
}

}  // namespace sinter
