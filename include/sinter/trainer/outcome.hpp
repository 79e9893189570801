// SPDX-License-Identifier: Apache-2.0
// Results of a step, an evaluation and a prediction.
#pragma once
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "sinter/recovery/reaction.hpp"

namespace sinter {

/// A sum of losses and their number, so that parts can be added exactly.
struct Loss {
  double sum = 0;          ///< in nats, for cross-entropy
  std::int64_t count = 0;  ///< number of predictions in the sum
  /// How many of them have the largest logit of their row; counted by evaluations of a recipe whose
  /// metrics are of tokens (TokenAccuracy).
  std::int64_t right = 0;

  /// The mean loss of a prediction; NaN if there are none.
  double mean() const { return sum / double(count); }
  /// Adds the losses of other rows.
  Loss& operator+=(const Loss& other) {
    sum += other.sum;
    count += other.count;
    right += other.right;
    return *this;
  }
};

/// A step that has advanced the weights.
struct Applied {
  Loss loss;             ///< before the update
  double gradient_norm;  ///< before clipping
  double learning_rate;  ///< of the update
};

/// Why a step was skipped.
enum class SkipReason {
  not_finite,  ///< its loss or gradients are not finite
  refused,     ///< a guard, such as SpikeGuard, refused it
  /// No prediction of the batch counts: the objective, such as MaskedLm, left none, or ClassWeights
  /// give each of its classes the weight 0.
  nothing_to_predict
};

/// A step that was not applied: for the reason that it gives.
/// Weights, optimizer state, schedule and step count are unchanged.
struct Skipped {
  Loss loss;                           ///< the loss of the step; without predictions its count is 0
  double gradient_norm;                ///< before clipping; this or the loss may be non-finite
  Reaction reaction = Reaction::stop;  ///< what policies decide; a Loop acts on it
  SkipReason reason = SkipReason::not_finite;  ///< why
};

/// The result of a step.
using Outcome = std::variant<Applied, Skipped>;

/// A model's predictions for a batch. A language model has a row of logits per sequence, for the
/// token that follows it.
struct Prediction {
  int rows = 0, columns = 0;  ///< rows, and numbers in each
  std::vector<float> values;  ///< rows × columns, row-major
};

}  // namespace sinter
