// SPDX-License-Identifier: Apache-2.0
// The loss and the metrics of a model over data.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "sinter/data/any_source.hpp"
#include "sinter/metric/metric.hpp"
#include "sinter/trainer/core.hpp"

namespace sinter::detail {

/// What an evaluation has found, the same on all ranks.
struct Evaluation {
  Loss loss{};                         ///< over all data
  std::vector<MetricValue> metrics{};  ///< by the recipe's metrics, in their order
  std::int64_t sequences = 0;          ///< number of sequences
  /// Counts of all examples, if the source has counted them.
  std::optional<ExampleCounts> examples{};
};

/// Evaluates the rest of a source, predicts each of its batches if the recipe has metrics of classes, and
/// then writes replies to its examples if it has metrics of texts (Evaluate). If ranks are processes, each
/// reads its part, and all get the same result.
///   stop      asked before each batch, and before each token of the replies; if it returns true, there
///             is no result
///   on_batch  called after each batch with the number of predictions so far
std::optional<Evaluation> evaluate_all(TrainerCore& trainer, AnySource& data,
                                       const std::function<bool()>& stop = {},
                                       const std::function<void(std::int64_t done)>& on_batch = {});

}  // namespace sinter::detail
