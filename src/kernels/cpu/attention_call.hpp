// SPDX-License-Identifier: Apache-2.0
// What both directions of attention share: a call, its pieces of work, and which thread does them.
#pragma once
#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdint>

#include "kernels/cpu/mask.hpp"
#include "kernels/cpu/split.hpp"
#include "sinter/kernels/attention.hpp"

namespace sinter::kernel {

/// The operands of a call.
template <class T>
struct Attention {
  const T* qkv;
  T* y;
  Wide<T>* log_sum;
  int heads, width, key_width;
  AttentionSpan span;
  Dropout dropout;
  // Of the backward pass alone:
  const T* dy = nullptr;
  T* dqkv = nullptr;
  bool add = false;
  /// Where T is narrow: sums of the gradients of keys and values, rows × 2 key_width.
  Wide<T>* sums = nullptr;

  int depth() const { return width / heads; }
  /// From one row of qkv to the next.
  std::int64_t row() const { return width + 2 * std::int64_t(key_width); }
  /// How many heads of queries share one of keys and values.
  int sharing() const { return width / key_width; }
  /// Where the keys of a head of queries begin in a row of as many columns as keys have.
  int key_column(int head) const { return head / sharing() * depth(); }
  Wide<T> scale() const { return Wide<T>(1 / std::sqrt(double(depth()))); }
};

/// One head of one sequence, rows [start, start + length).
struct Head {
  std::int64_t start;
  int length, head;
};

/// A row sees no more keys than this, in a sequence of `length` rows.
inline int most_seen(AttentionSpan span, int length) {
  assert(span.window >= 0 && (span.causal || span.window == 0));
  return span.window > 0 ? std::min(span.window, length) : length;
}

/// Keys [first, last) of a sequence.
struct KeyRange {
  int first, last;
};

/// Those that queries [first, first + count) see between them, in a sequence of `length` rows.
inline KeyRange seen_keys(AttentionSpan span, int length, int first, int count) {
  if (!span.causal) return {0, length};
  return {std::max(first + 1 - most_seen(span, length), 0), first + count};
}

/// Dropout with the mask's key for one head.
inline Dropout for_head(Dropout dropout, int head) {
  dropout.key = mix(dropout.key ^ (std::uint64_t(head) + 1) * mix_step);
  return dropout;
}

/// Spreads pieces of work of different cost over the threads. A piece is a head from its query
/// `first` on: visit_all(visit) calls visit(head, first, cost) for each piece, and one thread calls
/// run(head, first) for it. Which thread that is depends on the costs and the number of threads
/// alone.
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
