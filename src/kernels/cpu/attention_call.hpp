// SPDX-License-Identifier: Apache-2.0
// What both directions of attention share: a call, its pieces of work, and which thread does them.
#pragma once
#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdint>

#include "hardware/cpu/split.hpp"
#include "kernels/mask.hpp"
#include "sinter/kernels/attention.hpp"

namespace sinter::kernel {

/// The operands of a call, of self-attention or of cross-attention: queries, and keys with their
/// values, lie in rows of their own, wherever those are.
template <class T>
struct Attention {
  const T *q, *k, *v;
  std::int64_t q_row, key_row;  // from one row to the next, also of gradients; of v as of k
  T* y;
  Wide<T>* log_sum;
  int heads, width, key_width;
  AttentionSpan span;
  Dropout dropout;
  // Only for the backward pass. Null means not wanted; dk and dv are wanted together.
  const T* dy = nullptr;
  T *dq = nullptr, *dk = nullptr, *dv = nullptr;
  bool add_to_dq = false, add_to_keys = false;
  /// Where T is narrow: sums of dk and dv, rows of keys × 2 key_width.
  Wide<T>* sums = nullptr;

  int depth() const { return width / heads; }
  /// How many heads of queries share one of keys and values.
  int sharing() const { return width / key_width; }
  /// Where the keys of a head of queries begin in a row of as many columns as keys have.
  int key_column(int head) const { return head / sharing() * depth(); }
  Wide<T> scale() const { return Wide<T>(1 / std::sqrt(double(depth()))); }
};

/// Attention among the rows of qkv.
template <class T>
Attention<T> self_attention(Tensor<const T> qkv, Tensor<T> y, Tensor<Wide<T>> log_sum,
                            AttentionSpan span, Dropout dropout) {
  const int key_width = (qkv.columns - y.columns) / 2;
  const T* k = qkv.data + y.columns;
  return {qkv.data,        k,         k + key_width, qkv.columns, qkv.columns, y.data, log_sum.data,
          log_sum.columns, y.columns, key_width,     span,        dropout};
}

/// Attention of the rows of q to those of kv.
template <class T>
Attention<T> cross_attention(Tensor<const T> q, Tensor<const T> kv, Tensor<T> y,
                             Tensor<Wide<T>> log_sum, Dropout dropout) {
  assert(q.columns == y.columns && kv.columns == 2 * y.columns);
  return {q.data,       kv.data,         kv.data + y.columns, q.columns, kv.columns, y.data,
          log_sum.data, log_sum.columns, y.columns,           y.columns, {},         dropout};
}

/// Tensors that the forward pass has written, for those operands of the backward pass.
template <class T>
Tensor<T> written(Tensor<const T> tensor) {
  return {const_cast<T*>(tensor.data), tensor.rows, tensor.columns};
}

/// Rows of one sequence, [start, start + length).
struct Rows {
  std::int64_t start;
  int length;
};
inline Rows rows_of(Sequences sequences, int s) {
  const std::int32_t* starts = sequences.starts;
  return {starts[s], starts[s + 1] - starts[s]};
}

/// One head of one sequence. `padding`: rows behind its keys that no query sees.
struct Head {
  Rows queries, keys;
  int head, padding;
};

/// Calls visit(head) for each head of each sequence that has rows.
template <class F>
void for_each_head(Sequences queries, Sequences keys, int heads, const F& visit) {
  assert(queries.count == keys.count);
  for (int s = 0; s < queries.count; ++s) {
    const Rows of_queries = rows_of(queries, s);
    Rows of_keys = rows_of(keys, s);
    const int padding = keys.lengths ? of_keys.length - keys.lengths[s] : 0;
    of_keys.length -= padding;
    assert(of_queries.length == 0 || of_keys.length > 0);
    for (int h = 0; of_queries.length > 0 && h < heads; ++h)
      visit(Head{of_queries, of_keys, h, padding});
  }
}

/// The sequences of self-attention as keys.
inline Sequences keys_of(Sequences sequences, AttentionSpan span) {
  return span.causal ? sequences.with_padding() : sequences;
}

/// A row sees no more keys than this, in a sequence of `length` keys.
inline int max_seen(AttentionSpan span, int length) {
  assert(span.window >= 0 && (span.causal || span.window == 0));
  return span.window > 0 ? std::min(span.window, length) : length;
}

/// Keys [first, last) of a sequence.
struct KeyRange {
  int first, last;
};

/// The keys that queries [first, first + count) see between them, in a sequence of `length` keys.
inline KeyRange seen_keys(AttentionSpan span, int length, int first, int count) {
  if (!span.causal) return {0, length};
  return {std::max(first + 1 - max_seen(span, length), 0), first + count};
}

/// Attention of BFloat16 by a unit of the processor that multiplies it.
struct Bf16Attention {
  void (*forward)(const Attention<BFloat16>&, Head, int first_query);  // a strip of bf16_strip
  void (*backward)(const Attention<BFloat16>&, Head keys);  // all heads of queries that share them
};
inline constexpr int bf16_strip = 32;
/// By pairs of numbers, where has_pairs(), and by tiles, where has_amx(); null where they are not
/// compiled for. Both are for heads whose width is a multiple of 16.
const Bf16Attention* attention_by_pairs();
const Bf16Attention* attention_by_amx();
/// That of the unit by which matmul() multiplies, in heads whose width is a multiple of 16; null
/// where there is none, or AVX-512 is switched off.
const Bf16Attention* bf16_attention(int depth);
/// For tests: in place of the unit's, unless null.
extern const Bf16Attention* forced_bf16_attention;

/// Spreads pieces of work of different cost over the threads. A piece is a head from its query
/// `first` on: visit_all(visit) calls visit(head, first, cost) for each piece, and one thread calls
/// run(head, first) for it. The choice of the thread depends only on the costs and the number of
/// threads.
template <class VisitAll, class Run>
void balance(Stream& stream, std::int64_t elements_per_cost, const VisitAll& visit_all,
             const Run& run) {
  std::int64_t total = 0;
  visit_all([&](Head, int, std::int64_t cost) { total += cost; });
  const int parts = parts_for(stream, total, elements_per_cost);
  stream.parallel(parts, [&](int part) {
    std::int64_t before = 0;
    visit_all([&](Head head, int first, std::int64_t cost) {
      if ((2 * before + cost) * parts / (2 * total) == part) run(head, first);
      before += cost;
    });
  });
}

}  // namespace sinter::kernel
