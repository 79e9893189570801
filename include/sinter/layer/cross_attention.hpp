// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/kernels/attention.hpp"
#include "sinter/layer/context.hpp"

namespace sinter {

/// y = softmax(q kᵀ / √d) v for each head, d = W / Heads, where queries and keys have sequences of
/// their own (Vaswani et al. 2017): each row of the first operand sees all rows of the same sequence
/// of the second, which may be on another axis. q: rows × W, kv: rows × 2 W (k, then v), y: as q.
/// Keeps both operands, y and the log-sum-exp of each row and head; backward computes the
/// probabilities again. Attention probabilities are dropped with probability Dropout. It is not said
/// to be bidirectional: rows of y see none but their own of the axis that they are on.
template <int W, int Heads, float Dropout = 0.f>
struct CrossAttention {
  static_assert(Heads > 0 && W % Heads == 0,
                "CrossAttention: the number of heads does not divide the width.");
  static constexpr std::array in{W, 2 * W};
  static constexpr std::array out{W};
  template <class T, class Statistic>
  struct Saved {
    T q, kv, y;
    Statistic log_sum;
  };
  static constexpr Saved<Keep, Keep> saved{input(0), input(1), output(), statistic(Heads)};
  /// Those of two matmuls over the rows of one sequence × those of the other.
  static constexpr std::int64_t flops(std::int64_t, std::int64_t other) { return 4 * other * W; }
  template <class P>
  static constexpr std::int64_t scratch(std::int64_t, std::int64_t other) {
    return kernel::attention_scratch<typename P::compute>(other, W);
  }

  static void forward(auto& c) {
    kernel::cross_attention_forward(c.stream(), c.x(0), c.x(1), c.y(), c.saved.log_sum,
                                    c.sequences(0), c.sequences(1), c.dropout(Dropout));
  }
  static void backward(auto& c) {
    kernel::cross_attention_backward(c.stream(), c.saved.q, c.saved.kv, c.saved.y, c.dy(),
                                     c.saved.log_sum, c.dx(0), c.dx(1), c.sequences(0),
                                     c.sequences(1), c.scratch(), c.dropout(Dropout));
  }
};

}  // namespace sinter
