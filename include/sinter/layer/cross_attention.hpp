// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/kernels/attention.hpp"
#include "sinter/kernels/cached_attention.hpp"
#include "sinter/layer/context.hpp"

namespace sinter {

/// y = softmax(q kᵀ / √d) v for each head, d = W / Heads. Each row of q attends to all rows of kv
/// in its sequence but padding, as a decoder to its encoder (Vaswani et al. 2017). q: rows × W, kv:
/// rows × 2 W (k, v), on another axis; y: as q. Keeps q, kv, y and the log-sum-exp of each row and
/// head; backward computes the probabilities again. Attention probabilities are dropped with
/// probability Dropout.
///
/// The layer states neither `causal` nor `bidirectional`, as rows attend to no other rows of their
/// own axis. With q and kv on one axis it computes SelfAttention without these facts: data whose
/// targets are the next tokens are then not refused.
template <int W, int Heads, float Dropout = 0.f>
struct CrossAttention {
  static_assert(Heads > 0 && W % Heads == 0,
                "CrossAttention: the number of heads does not divide the width. Why: each head "
                "attends with width / heads numbers. Fix: choose a width that is a multiple of "
                "the heads.");
  static constexpr std::array in{W, 2 * W};
  static constexpr std::array out{W};
  static constexpr bool skips_padding = true;
  static constexpr Cached cached{.width = 2 * W, .operand = 1};
  template <class T, class Statistic>
  struct Saved {
    T q, kv, y;
    Statistic log_sum;
  };
  static constexpr Saved<Keep, Keep> saved{Keep::input(0), Keep::input(1), Keep::output(),
                                           Keep::statistic(Heads)};
  /// Operations of two matmuls over context × other.
  static constexpr std::int64_t flops(std::int64_t, std::int64_t other) { return 4 * other * W; }
  /// Room for sums of the gradients of kv, needed if the compute type is narrow.
  template <class P>
  static constexpr std::int64_t scratch(std::int64_t, std::int64_t other) {
    return kernel::attention_scratch<typename P::compute>(other, W);
  }

  static void forward(auto& c) {
    kernel::cross_attention_forward(c.stream(), c.x(0), c.x(1), c.y(), c.saved.log_sum,
                                    c.sequences(0), c.sequences(1), c.dropout(Dropout));
  }
  static void extend(auto& c) {
    kernel::cached_cross_attention(c.stream(), c.x(0), c.x(1), c.y(), c.cache(), c.sequences(0),
                                   c.sequences(1), Heads);
  }
  static void backward(auto& c) {
    kernel::cross_attention_backward(c.stream(), c.saved.q, c.saved.kv, c.saved.y, c.dy(),
                                     c.saved.log_sum, c.dx(0), c.dx(1), c.sequences(0),
                                     c.sequences(1), c.scratch(), c.dropout(Dropout));
  }
};

}  // namespace sinter
