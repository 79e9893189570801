// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/kernels/attention.hpp"
#include "sinter/kernels/cached_attention.hpp"
#include "sinter/layer/context.hpp"

namespace sinter {

namespace detail {
/// y = softmax(q kᵀ / √d) v for each head, d = W / Heads. Each row attends to its whole sequence
/// or, if Causal, to itself and the rows before it, at most Window of them in all if Window > 0
/// (Beltagy et al. 2020). Heads / KeyHeads neighbouring heads of q share one of k and v (Ainslie et
/// al. 2023). x: rows × (W + 2 KeyHeads d) (q, k, v), y: rows × W. Keeps x, y and the log-sum-exp
/// of each row and head; backward computes the probabilities again. Attention probabilities are
/// dropped with probability Dropout.
template <int W, int Heads, bool Causal, float Dropout = 0.f, int KeyHeads = Heads, int Window = 0>
struct Attention {
  static_assert(Heads > 0 && W % Heads == 0,
                "Attention: the number of heads does not divide the width.");
  static_assert(KeyHeads > 0 && Heads % KeyHeads == 0,
                "Attention: the number of heads of keys does not divide the number of heads.");
  static_assert(Window >= 0, "Attention: the window is negative; 0 is none.");
  /// The width of the keys, and of the values.
  static constexpr int key_width = W / Heads * KeyHeads;
  static constexpr std::array in{W + 2 * key_width};
  static constexpr std::array out{W};
  static constexpr bool causal = Causal, bidirectional = !Causal, skips_padding = true;
  static constexpr kernel::AttentionSpan span{.causal = Causal, .window = Window};
  static constexpr Cached cached{.width = Causal ? 2 * key_width : 0, .window = Window};
  template <class T, class Statistic>
  struct Saved {
    T qkv, y;
    Statistic log_sum;
  };
  static constexpr Saved<Keep, Keep> saved{Keep::input(), Keep::output(), Keep::statistic(Heads)};
  /// Operations of two matmuls over context × context, over half of it if Causal, or over the band
  /// of that half that is as wide as the window.
  static constexpr std::int64_t flops(std::int64_t context) {
    constexpr std::int64_t window = Window;
    if (!Causal) return 4 * context * W;
    if (window == 0 || window >= context) return 2 * context * W;
    return 2 * W * window * (2 * context - window) / context;
  }
  template <class P>
  static constexpr std::int64_t scratch(std::int64_t rows) {
    return kernel::attention_scratch<typename P::compute>(rows, key_width);
  }

  static void forward(auto& c) {
    kernel::attention_forward(c.stream(), c.x(), c.y(), c.saved.log_sum, c.sequences(), span,
                              c.dropout(Dropout));
  }
  static void extend(auto& c)
    requires Causal
  {
    kernel::cached_attention(c.stream(), c.x(), c.y(), c.cache(), c.sequences(), Heads, Window);
  }
  static void backward(auto& c) {
    if (auto dx = c.dx())
      kernel::attention_backward(c.stream(), c.saved.qkv, c.saved.y, c.dy(), c.saved.log_sum, dx,
                                 c.sequences(), span, c.scratch(), c.dropout(Dropout));
  }
};
}  // namespace detail

/// Attention of each row to itself and the rows before it in its sequence. A Window above 0 limits
/// it to the nearest Window rows, itself included.
template <int W, int Heads, float Dropout = 0.f, int KeyHeads = Heads, int Window = 0>
using CausalSelfAttention = detail::Attention<W, Heads, true, Dropout, KeyHeads, Window>;
/// Attention of each row to its whole sequence.
template <int W, int Heads, float Dropout = 0.f, int KeyHeads = Heads>
using SelfAttention = detail::Attention<W, Heads, false, Dropout, KeyHeads>;

}  // namespace sinter
