// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/kernels/dropout.hpp"
#include "sinter/layer/context.hpp"

namespace sinter {

/// y = x / (1 - p) with probability 1 - p, else 0; y = x outside training (Srivastava et al. 2014).
/// x, y: rows × W. The mask is a function of seed, step, dropout site, the row's number in the
/// global batch and the column. Keeps nothing: recomputation and any split of the batch reproduce
/// the mask.
template <int W, float Probability>
struct Dropout {
  static_assert(Probability >= 0 && Probability < 1, "Dropout: the probability is outside [0, 1).");
  static constexpr std::array in{W};
  static constexpr std::array out{W};
  static constexpr bool cheap = true;

  static void forward(auto& c) {
    kernel::dropout(c.stream(), c.x(), c.y(), c.dropout(Probability));
  }
  static void backward(auto& c) {
    if (auto dx = c.dx()) kernel::dropout(c.stream(), c.dy(), dx, c.dropout(Probability));
  }
};

}  // namespace sinter
