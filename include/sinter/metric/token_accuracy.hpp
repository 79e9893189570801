// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/metric/metric.hpp"

namespace sinter {

/// The share of targets whose token has the largest logit of its row, the first of equals: of a
/// model of next tokens, of masked tokens or of replies. It is counted beside the loss of
/// evaluations, whose logits never exist all at once. Training is as without it.
struct TokenAccuracy {
  static constexpr std::string_view name = "token_accuracy";
  static constexpr bool greater_is_better = true;

  static constexpr double value(std::int64_t right, std::int64_t all) {
    return double(right) / double(all);
  }
};

}  // namespace sinter
