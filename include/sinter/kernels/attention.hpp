// SPDX-License-Identifier: Apache-2.0
// Self-attention, causal or full, and cross-attention, computed in blocks so that the rows × rows
// probabilities are never stored (Dao 2023, FlashAttention-2). Heads of queries may share a head of
// keys and values (grouped-query attention, Ainslie et al. 2023). A causal row may attend only to a
// window (sliding-window attention, Beltagy et al. 2020), in time that grows with rows × window.
// (T, S), the types of elements and statistics, is (float, float), (double, double), (BFloat16,
// float) or (Float16, float). The bits are the same for every number of threads.
//
// Errors: ε is the epsilon of S, p the probabilities, and L the number of rows of the sequence, or
// of the window if shorter. In cross-attention, L counts queries or keys, whichever are more.
// Narrow types add the rounding of what is stored. An add flag adds one ε of the sum and √L / 2 ε
// of the value before. In a head, with s = max Σ|q k| / √d, a score errs by up to (1 + √d / 4) s ε,
// and p relatively by as much. With the error of softmax this makes τ = 4 + √L / 4 + (1 + √d / 4)
// s. (√ assumes that roundings behave as if random, Higham & Mary 2019.)
//   y        τ ε Σ p |v|
//   log_sum  (τ + |log_sum|) ε
//   dv       3 τ ε Σ p |dy|
//   dq, dk   3 τ ε Σ p (g + Σ p g) |k or q| / √d, where g = Σ |dy v| of a row and a key.
// In dk and dv, L is multiplied by the number of query heads that share the key. BFloat16 has
// larger errors in two cases. One is AVX-512 BF16 or AMX, in heads whose width is a multiple of 16.
// The other is a card's tensor cores, in heads up to 128 wide whose width is a multiple of 8. In
// both, p and ds = p (dy v - Σ p dy v) are rounded to BFloat16 before they are multiplied, which
// changes each by up to u = 2⁻⁸ of itself. Also, Σ p dy v = dy y uses a y that was rounded twice,
// once through p: an error up to 2 u Σ p g. So y errs by u Σ p |v| more, dv by u Σ p |dy|, dq and
// dk by 3 u Σ p (g + Σ p g) |k or q| / √d. That is as if τ were u / ε larger, in all but log_sum.
// AMX sums 16 even and 16 odd products apart, then both: no product is rounded more often than in
// one running sum. The processor's BFloat16 instructions treat subnormal numbers as zero.
#pragma once
#include <cstdint>

#include "sinter/base/bfloat16.hpp"
#include "sinter/base/float16.hpp"
#include "sinter/hardware/stream.hpp"
#include "sinter/kernels/dropout.hpp"
#include "sinter/kernels/tensor.hpp"

namespace sinter::kernel {

/// The widest head, width / heads, that the attention kernels accept.
inline constexpr int max_head_width = 1024;

/// Which rows of its sequence a row attends to.
struct AttentionSpan {
  bool causal = false;  ///< true if a row attends only to itself and those before it, else to all
  /// The most rows that a causal row attends to: itself and the nearest before it. 0: no limit.
  /// requires  >= 0, and 0 unless causal
  int window = 0;
};

/// y = softmax(q kᵀ / √d) v for each head of each sequence, d = width / heads, over the keys in the
/// span. Dropout acts on the probabilities; its mask is a function of (key, first_row + row, head,
/// position of the key in its sequence) for every span.
///   qkv      rows × (width + 2 key_width): q, k and v side by side, each with its heads side by
///            side. key_width is a multiple of d, and key_width / d divides heads; each head of k
///            and v serves equally many neighbouring heads of q
///   y        rows × width
///   log_sum  rows × heads: the natural logarithm of each softmax's denominator, for the backward
///            pass
/// Rows of padding (Sequences::lengths) attend as others do. In a span that is not causal no row
/// attends to them; in a causal one they are behind all rows that are no padding.
template <class T, class S>
void attention_forward(Stream& stream, Input<T> qkv, Tensor<T> y, Tensor<S> log_sum,
                       Sequences sequences, AttentionSpan span, Dropout dropout = {});

/// Elements of S that attention_backward() and cross_attention_backward() need as scratch.
template <class T>
constexpr std::int64_t attention_scratch(std::int64_t rows, int key_width) {
  return is_narrow<T> ? 2 * rows * key_width : 0;
}

/// dqkv = gradient of qkv, or += with its add flag; that of keys and values to which no row attends
/// is 0. y and log_sum are as the forward pass left them. dy: rows × width, dqkv: as qkv, scratch:
/// attention_scratch<T>(rows, key_width) elements.
template <class T, class S>
void attention_backward(Stream& stream, Input<T> qkv, Input<T> y, Input<T> dy, Input<S> log_sum,
                        Tensor<T> dqkv, Sequences sequences, AttentionSpan span, S* scratch,
                        Dropout dropout = {});

/// y = softmax(q kᵀ / √d) v for each head, d = width / heads (Vaswani et al. 2017). Each row of
/// sequence s of `queries` attends to all rows of sequence s of `keys` but its padding. If q and kv
/// are parts of the same rows, the bits are those of full self-attention. Dropout is as in
/// attention_forward(), with first_row and row of the query.
///   q        rows of `queries` × width
///   kv       rows of `keys` × 2 width: k, then v
///   y        as q
///   log_sum  rows of `queries` × heads
/// requires  each sequence has at least one row in both
template <class T, class S>
void cross_attention_forward(Stream& stream, Input<T> q, Input<T> kv, Tensor<T> y,
                             Tensor<S> log_sum, Sequences queries, Sequences keys,
                             Dropout dropout = {});

/// dq = gradient of q and dkv = gradient of kv, each or += with its own add flag; an empty one is
/// not computed. dkv is 0 in padding of `keys`. y and log_sum are as the forward pass left them.
/// dy: as y, scratch: attention_scratch<T>(rows of `keys`, width) elements.
template <class T, class S>
void cross_attention_backward(Stream& stream, Input<T> q, Input<T> kv, Input<T> y, Input<T> dy,
                              Input<S> log_sum, Tensor<T> dq, Output<T> dkv, Sequences queries,
                              Sequences keys, S* scratch, Dropout dropout = {});

}  // namespace sinter::kernel
