// What a step, an evaluation and a prediction give back.
#pragma once
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace sinter {

/// A sum of losses and the number of predictions it is over, so that parts can be added exactly.
struct Loss {
  double sum = 0;
  std::int64_t count = 0;

  double mean() const { return sum / double(count); }
  Loss& operator+=(const Loss& other) {
    sum += other.sum;
    count += other.count;
    return *this;
  }
};

/// The weights have advanced. loss: before the update; gradient_norm: before clipping.
struct Applied {
  Loss loss;
  double gradient_norm, learning_rate;
};

/// The loss or a gradient was not finite: weights, optimizer state, schedule and step count are
/// what they were. expected: a policy has dealt with it (a lower loss scale), so go on.
struct Skipped {
  Loss loss;
  double gradient_norm;
  bool expected = false;
};

using Outcome = std::variant<Applied, Skipped>;

/// The model's prediction, one row for each row that it predicts (a language model: the logits that
/// follow each sequence). values: rows × columns.
struct Prediction {
  int rows = 0, columns = 0;
  std::vector<float> values;
};

}  // namespace sinter
