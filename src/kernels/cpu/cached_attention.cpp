// SPDX-License-Identifier: Apache-2.0
// Attention of rows that continue texts. In a slot, each head of keys has the keys of all rows, then
// their values. Keys lie in blocks of cache_block rows, column by column: a vector has one column of
// several keys, and scores need no sum across a vector. Values lie row by row.
#include "sinter/kernels/cached_attention.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "hardware/cpu/split.hpp"
#include "kernels/cpu/targets.hpp"
#include "sinter/kernels/attention.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/cached_attention.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/ahead-inl.hpp"
#include "kernels/cpu/simd-inl.hpp"

#ifndef SINTER_CACHED_ATTENTION_TABLE
#define SINTER_CACHED_ATTENTION_TABLE
namespace sinter::kernel {
namespace {

/// A head of keys, and its values, in the slots of a cache.
template <class T>
struct CachedHead {
  T* data;                      // the head in slot 0
  std::int64_t slot_size;       // elements from a slot to the next
  std::int32_t rows, depth;     // rows of a slot, and numbers of a row of the head
  std::int32_t slot;            // of a row without a source
  const std::int32_t* sources;  // slots of the text's rows, or null

  int slot_of(int position) const { return sources ? sources[position] : slot; }
  /// Keys of the block of a position; column c of the block's rows begins at c × cache_block.
  T* keys(int in, int position) const {
    const int block = position % rows / cache_block;
    return data + in * slot_size + std::int64_t(block) * cache_block * depth;
  }
  T* values(int in, int position) const {
    return data + in * slot_size + (std::int64_t(rows) + position % rows) * depth;
  }
  /// From the values of a position to where keys of the head behind lie.
  std::int64_t next_keys() const { return std::int64_t(rows) * depth; }
  /// Up to where values of positions lie one behind the other, from a position to `last`.
  int run_end(int position, int last) const {
    return sources ? position + 1 : std::min(last, position - position % rows + rows);
  }
};

/// What each instruction set provides: attention of one row of a head of queries, of `head.depth`
/// numbers, to positions [first, last).
template <class T>
struct CachedAttentionTable {
  void (*attend)(const T* q, const CachedHead<T>& head, int first, int last, T* y);
};

}  // namespace
}  // namespace sinter::kernel
#endif

HWY_BEFORE_NAMESPACE();
namespace sinter::kernel {
namespace {
namespace HWY_NAMESPACE {

/// Positions whose scores are at hand at once, a multiple of cache_block.
constexpr int span = 128;
constexpr double log2_e = 1.44269504088896340736;

template <class W>
using ScoreTag = hn::CappedTag<W, cache_block>;

/// Scores of a block of cache_block positions from one slot. Asks for its values, which come next.
template <class T, class W = Wide<T>>
HWY_INLINE void score_block(const W* q, const T* keys, const T* values, int depth, W* scores) {
  const ScoreTag<W> d;
  constexpr int lanes = int(hn::MaxLanes(d)), vectors = cache_block / lanes;
  hn::Vec<ScoreTag<W>> even[vectors], odd[vectors];
  for (int v = 0; v < vectors; ++v) even[v] = odd[v] = hn::Zero(d);
  int c = 0;
  for (; c + 2 <= depth; c += 2) {
    ask_for(values + c * cache_block, 2 * cache_block * sizeof(T));
    const auto a = hn::Set(d, q[c]), b = hn::Set(d, q[c + 1]);
    for (int v = 0; v < vectors; ++v) {
      even[v] = hn::MulAdd(a, load(d, keys + c * cache_block + v * lanes), even[v]);
      odd[v] = hn::MulAdd(b, load(d, keys + (c + 1) * cache_block + v * lanes), odd[v]);
    }
  }
  if (c < depth) {
    const auto a = hn::Set(d, q[c]);
    for (int v = 0; v < vectors; ++v)
      even[v] = hn::MulAdd(a, load(d, keys + c * cache_block + v * lanes), even[v]);
  }
  for (int v = 0; v < vectors; ++v) hn::StoreU(hn::Add(even[v], odd[v]), d, scores + v * lanes);
}

/// Scores of positions [block, block + cache_block), of which [first, last) count, from the slots in
/// which they lie; hypotheses of a beam search find a few slots in turns.
template <class T, class W = Wide<T>>
HWY_INLINE void score(const W* q, const CachedHead<T>& head, int block, int first, int last,
                      W* scores) {
  const auto from = [&](int slot, W* found) HWY_ATTR {
    score_block(q, head.keys(slot, block), head.values(slot, block), head.depth, found);
  };
  if (!head.sources) return from(head.slot, scores);
  HWY_ALIGN W found[cache_block];
  bool has_score[cache_block] = {};
  for (int p = first; p < last; ++p) {
    if (has_score[p - block]) continue;
    from(head.sources[p], found);
    for (int other = p; other < last; ++other) {
      if (head.sources[other] != head.sources[p]) continue;
      scores[other - block] = found[other - block];
      has_score[other - block] = true;
    }
  }
}

/// sums = factor × sums + Σ p[k] values(first + k), over positions [first, last). Asks for as many
/// keys of the head behind, which mostly comes next.
template <class T, class W = Wide<T>>
HWY_INLINE void add_values(const W* p, const CachedHead<T>& head, int first, int last, W factor,
                           W* sums) {
  const hn::ScalableTag<W> d;
  const hn::CappedTag<W, 1> one;
  constexpr int vectors = 4;
  const int lanes = int(hn::Lanes(d));
  int c = 0;
  const auto columns = [&](auto tag, auto count) HWY_ATTR {
    constexpr int n = decltype(count)::value;
    const int step = int(hn::Lanes(tag));
    hn::Vec<decltype(tag)> sum[n];
    const auto by = hn::Set(tag, factor);
    for (int v = 0; v < n; ++v) sum[v] = hn::Mul(by, hn::LoadU(tag, sums + c + v * step));
    for (int t = first; t < last;) {
      const T* row = head.values(head.slot_of(t), t) + c;
      const T* next = row - c + head.next_keys();
      for (const int end = head.run_end(t, last); t < end; ++t, row += head.depth) {
        if (c == 0) ask_for(next, head.depth * sizeof(T)), next += head.depth;
        const auto weight = hn::Set(tag, p[t - first]);
        for (int v = 0; v < n; ++v) sum[v] = hn::MulAdd(weight, load(tag, row + v * step), sum[v]);
      }
    }
    for (int v = 0; v < n; ++v) hn::StoreU(sum[v], tag, sums + c + v * step);
    c += n * step;
  };
  while (c + vectors * lanes <= head.depth) columns(d, std::integral_constant<int, vectors>());
  while (c + 2 * lanes <= head.depth) columns(d, std::integral_constant<int, 2>());
  while (c + lanes <= head.depth) columns(d, std::integral_constant<int, 1>());
  while (c < head.depth) columns(one, std::integral_constant<int, 1>());
}

template <class T, class W = Wide<T>>
void attend(const T* q, const CachedHead<T>& head, int first, int last, T* y) {
  const ScoreTag<W> d;
  const int lanes = int(hn::Lanes(d)), depth = head.depth;
  constexpr W least = -std::numeric_limits<W>::infinity();
  HWY_ALIGN W query[max_head_width], sums[max_head_width], scores[span];
  const W scale = W(log2_e / std::sqrt(double(depth)));
  for (int c = 0; c < depth; ++c) query[c] = W(q[c]) * scale;
  std::fill_n(sums, depth, W(0));
  W most = least, total = 0;
  for (int begin = first / cache_block * cache_block; begin < last; begin += span) {
    const int end = std::min(begin + span, last), from = std::max(begin, first);
    const int whole = (end - begin + cache_block - 1) / cache_block * cache_block;
    for (int block = begin; block < end; block += cache_block)
      score(query, head, block, std::max(block, first), std::min(block + cache_block, end),
            scores + (block - begin));
    std::fill(scores, scores + (from - begin), least);
    std::fill(scores + (end - begin), scores + whole, least);
    auto largest = hn::Set(d, most);
    for (int k = 0; k < whole; k += lanes) largest = hn::Max(largest, hn::LoadU(d, scores + k));
    const W top = reduce_max(d, largest);
    const W factor = W(std::exp2(most - top));
    auto sum = hn::Zero(d);
    for (int k = 0; k < whole; k += lanes) {
      const auto p = exp2(d, hn::Sub(hn::LoadU(d, scores + k), hn::Set(d, top)));
      sum = hn::Add(sum, p);
      hn::StoreU(p, d, scores + k);
    }
    total = total * factor + reduce_sum(d, sum);
    most = top;
    add_values(scores + (from - begin), head, from, end, factor, sums);
  }
  const W inverse = 1 / total;
  for (int c = 0; c < depth; ++c) y[c] = T(sums[c] * inverse);
}

template <class T>
CachedAttentionTable<T> make_table() {
  return {attend<T>};
}
SINTER_TABLES(CachedAttentionTable)

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace sinter::kernel
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sinter::kernel {
namespace {

SINTER_DISPATCH(CachedAttentionTable)

/// Head number h of a cache's keys, as sequence s reads it.
template <class T>
CachedHead<T> head_of(const Cache<T>& cache, int s, int h, int depth) {
  const std::int32_t* sources =
      cache.sources ? cache.sources + std::int64_t(s) * cache.source_rows : nullptr;
  return {cache.data + std::int64_t(h) * 2 * cache.rows * depth,
          cache.slot_size(),
          cache.rows,
          depth,
          cache.slots[s],
          sources};
}

/// Writes a row's keys and values of a head.
template <class T>
void keep(const CachedHead<T>& head, int position, const T* k, const T* v) {
  T* keys = head.keys(head.slot, position) + position % cache_block;
  for (int c = 0; c < head.depth; ++c) keys[std::int64_t(c) * cache_block] = k[c];
  std::copy_n(v, head.depth, head.values(head.slot, position));
}

/// Calls work(sequence, head of keys) for all, on the stream's threads.
template <class F>
void for_each_head(Stream& stream, int sequences, int heads, std::int64_t cost, const F& work) {
  split(stream, std::int64_t(sequences) * heads, cost, 1,
        [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t k = begin; k < end; ++k) work(int(k / heads), int(k % heads));
        });
}

/// Elements that the rows of a call read, for one head of keys of a sequence, at most on average.
std::int64_t cost_of(const Sequences& s, int rows, int depth, int sharing) {
  std::int64_t all = 0;
  for (int i = 0; i < s.count; ++i)
    all += std::int64_t(s.before[i] + s.starts[i + 1] - s.starts[i]) *
           std::max(rows / std::max(s.count, 1), 1);
  return 2 * all / std::max(s.count, 1) * depth * sharing;
}

}  // namespace

template <class T>
void cached_attention(Stream& stream, Input<T> qkv, Tensor<T> y, Cache<T> cache,
                      Sequences sequences, int heads, int window) {
  const int width = y.columns, key_width = (qkv.columns - width) / 2, depth = width / heads;
  const int key_heads = key_width / depth, sharing = heads / key_heads;
  assert(cache.width == 2 * key_width && depth <= max_head_width);
  const auto on_row = table<T>();
  for_each_head(stream, sequences.count, key_heads,
                cost_of(sequences, sequences.rows(), depth, sharing), [&](int s, int h) {
                  CachedHead<T> head = head_of(cache, s, h, depth);
                  const int start = sequences.starts[s], before = sequences.before[s];
                  for (int r = start; r < sequences.starts[s + 1]; ++r) {
                    const int position = before + r - start;
                    const T* row = qkv.data + std::int64_t(r) * qkv.columns;
                    const T* k = row + width + h * depth;
                    keep(head, position, k, k + key_width);
                    const int first = window > 0 ? std::max(position + 1 - window, 0) : 0;
                    for (int q = h * sharing; q < (h + 1) * sharing; ++q)
                      on_row.attend(row + q * depth, head, first, position + 1,
                                    y.data + std::int64_t(r) * width + q * depth);
                  }
                });
}

template <class T>
void cached_cross_attention(Stream& stream, Input<T> q, Input<T> kv, Tensor<T> y, Cache<T> cache,
                            Sequences queries, Sequences keys, int heads) {
  const int width = y.columns, depth = width / heads;
  assert(cache.width == 2 * width && depth <= max_head_width && queries.count == keys.count);
  const auto on_row = table<T>();
  for_each_head(
      stream, queries.count, heads, cost_of(keys, queries.rows(), depth, 1), [&](int s, int h) {
        const CachedHead<T> head = head_of(cache, s, h, depth);
        const int start = keys.starts[s], before = keys.before[s];
        const int all = before + keys.starts[s + 1] - start;
        for (int position = before; position < all; ++position) {
          const T* row = kv.data + std::int64_t(start + position - before) * kv.columns + h * depth;
          keep(head, position, row, row + width);
        }
        for (int r = queries.starts[s]; r < queries.starts[s + 1]; ++r) {
          const std::int64_t at = std::int64_t(r) * width + h * depth;
          on_row.attend(q.data + at, head, 0, all, y.data + at);
        }
      });
}

#define SINTER_INSTANTIATE(T)                                                                  \
  template void cached_attention(Stream&, Input<T>, Tensor<T>, Cache<T>, Sequences, int, int); \
  template void cached_cross_attention(Stream&, Input<T>, Input<T>, Tensor<T>, Cache<T>,       \
                                       Sequences, Sequences, int);
SINTER_EACH_ELEMENT(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE

}  // namespace sinter::kernel
#endif  // HWY_ONCE
