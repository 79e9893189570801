// SPDX-License-Identifier: Apache-2.0
// The slot `stopping`: when a run ends before its last step.
#pragma once
#include <string>

#include "sinter/base/text.hpp"
#include "sinter/policy/concepts.hpp"

namespace sinter {

namespace slot {
/// The slot of policies that end a run early (EarlyStop).
struct stopping {
  static constexpr std::string_view name = "stopping";
  static constexpr bool decisive = false;
};
}  // namespace slot

/// When a loop ends before its last step: after `patience` evaluations in a row whose figure is not
/// better than the best by more than `min_delta`. An evaluation counts if it is one of every
/// LoopOptions::evaluate_every steps, so that a stop and a resume between them change nothing.
struct EarlyStopping {
  int patience = 3;      ///< at least 1
  double min_delta = 0;  ///< at least 0
  std::string
      metric{};  ///< name of one of the recipe's metrics, or "loss"; empty: that which is best_by
};

struct EarlyStopOptions {
  int patience = 3;      ///< evaluations in a row without a better figure, after which a run ends
  double min_delta = 0;  ///< a figure counts as better if it is so by more than this
  SINTER_FIELDS((patience).at_least(1).adjustable(), (min_delta).at_least(0).adjustable())
};

/// Ends a run that no longer improves, as EarlyStoppingCallback of Hugging Face's Trainer and
/// EarlyStopping of Lightning: EarlyStop<{.patience = 5}> watches what chooses the best checkpoint
/// (LoopOptions::best_by), EarlyStop<{}, "accuracy"> a metric of the recipe. The count is in the
/// checkpoint; the best checkpoint stays.
template <EarlyStopOptions O = {}, detail::Text Metric = "">
struct EarlyStop {
  using slot = slot::stopping;
  using Options = EarlyStopOptions;
  static constexpr Options options = O;

  static EarlyStopping early_stop(const Options& o) {
    return {o.patience, o.min_delta, Metric.text};
  }
};

}  // namespace sinter
