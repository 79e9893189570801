// SPDX-License-Identifier: Apache-2.0
// What a step, an evaluation and a prediction give back.
#pragma once
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "sinter/recovery/reaction.hpp"

namespace sinter {

/// A sum of losses, and how many there are, so that parts can be added exactly.
struct Loss {
  double sum = 0;          ///< in nats, if it is cross-entropy
  std::int64_t count = 0;  ///< predictions that the sum is over

  /// The loss of a prediction, on average; not a number if there are none.
  double mean() const { return sum / double(count); }
  Loss& operator+=(const Loss& other) {
    sum += other.sum;
    count += other.count;
    return *this;
  }
};

/// A step that has advanced the weights.
struct Applied {
  Loss loss;             ///< before the update
  double gradient_norm;  ///< before clipping
  double learning_rate;  ///< of the update
};

/// A step that was not applied, as its loss or gradient was not finite or a guard refused it:
/// weights, optimizer state, schedule and step count are what they were.
struct Skipped {
  Loss loss;
  double gradient_norm;                ///< before clipping; this or the loss may be not finite
  Reaction reaction = Reaction::stop;  ///< what policies say to do; a Loop does it
};

/// What a step has come to.
using Outcome = std::variant<Applied, Skipped>;

/// What a model predicts from a batch, such as, for a language model, a row of logits for the token
/// that follows each sequence.
struct Prediction {
  int rows = 0, columns = 0;
  std::vector<float> values;  ///< rows × columns, row-major
};

}  // namespace sinter
