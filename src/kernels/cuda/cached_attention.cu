// SPDX-License-Identifier: Apache-2.0
// Attention of rows that continue texts. In a slot, each head of keys has the keys of all rows, row by
// row, then their values.
#include "sinter/kernels/cached_attention.hpp"

#include <limits>

#include "hardware/cuda/maxima.hpp"
#include "kernels/cuda/each_element.hpp"
#include "kernels/cuda/sequences.hpp"
#include "kernels/elements.hpp"

namespace sinter::kernel {
namespace {

constexpr double log2_e = 1.44269504088896340736;
/// Threads of a block, each of which has a score of a part of the positions.
constexpr int threads = 128;

/// A cache of heads, without gaps.
template <class T>
struct CachedHeads {
  T* data;
  std::int64_t slot_size;
  const std::int32_t *slots, *sources;
  std::int32_t source_rows, rows, depth;
  std::int32_t window;  // of rows that are seen; 0: all

  __device__ T* keys(int slot, int head, int position) const {
    const std::int64_t row = std::int64_t(head) * 2 * rows + position % rows;
    return data + slot * slot_size + row * depth;
  }
  __device__ T* values(int slot, int head, int position) const {
    return keys(slot, head, position) + std::int64_t(rows) * depth;
  }
  /// The slot in which a row of a sequence lies.
  __device__ int slot_of(int sequence, int position) const {
    return sources ? sources[std::int64_t(sequence) * source_rows + position] : slots[sequence];
  }
};

template <class T>
CachedHeads<T> heads_of(const Cache<T>& cache, int depth, int window) {
  return {cache.data,        cache.slot_size(), cache.slots, cache.sources,
          cache.source_rows, cache.rows,        depth,       window};
}

/// Copies keys and values of new rows to the cache. from: rows of `row` elements, with the keys of all
/// heads, `key_width` elements, and then the values.
template <class T>
__global__ void keep_rows(const T* from, int row, int key_width, CachedHeads<T> cache,
                          Sequences sequences, std::int64_t n) {
  for_each_element(n, [=](std::int64_t i) {
    const int r = int(i / key_width), column = int(i - std::int64_t(r) * key_width);
    const int head = column / cache.depth, c = column - head * cache.depth;
    const int position = position_of(sequences, r);
    const int slot = cache.slots[sequence_of(sequences.starts, sequences.count, r)];
    const T* k = from + std::int64_t(r) * row + column;
    cache.keys(slot, head, position)[c] = k[0];
    cache.values(slot, head, position)[c] = k[key_width];
  });
}

/// Rows of queries, and of what they become.
template <class T>
struct QueryRows {
  const T* q;
  T* y;
  std::int32_t q_row, y_row, sharing;
  std::int32_t is_cross;  // 1 if keys are of the other side
};

/// A block has a row of a head of queries. keys: the rows on the side of the keys if that is another
/// one; a row then sees all of its text, else those up to itself, at most `window` if above 0.
template <class T, class S = Wide<T>>
__global__ void attend_to_cache(QueryRows<T> rows, CachedHeads<T> cache, Sequences queries,
                                Sequences keys) {
  const int r = int(blockIdx.x), head = int(blockIdx.y), key_head = head / rows.sharing;
  const int sequence = sequence_of(queries.starts, queries.count, r), thread = int(threadIdx.x);
  const int depth = cache.depth;
  S* room = shared_memory<S>();
  S *scores = room + warp, *query = scores + threads, *sums = query + depth;
  const T* q = rows.q + std::int64_t(r) * rows.q_row + head * depth;
  const S scale = S(log2_e / sqrt(double(depth)));
  for (int c = thread; c < depth; c += threads) query[c] = S(q[c]) * scale, sums[c] = 0;
  int first = 0, last = 0;
  if (rows.is_cross) {
    last = keys.before[sequence] + keys.starts[sequence + 1] - keys.starts[sequence];
  } else {
    last = position_of(queries, r) + 1;
    if (cache.window > 0 && last > cache.window) first = last - cache.window;
  }
  S most = -std::numeric_limits<S>::infinity(), total = 0;
  for (int begin = first; begin < last; begin += threads) {
    __syncthreads();
    const int position = begin + thread, n = last - begin < threads ? last - begin : threads;
    S score = -std::numeric_limits<S>::infinity();
    if (thread < n) {
      const T* k = cache.keys(cache.slot_of(sequence, position), key_head, position);
      S sum = 0;
      for (int c = 0; c < depth; ++c) sum = fused(query[c], S(k[c]), sum);
      score = sum;
    }
    const S top = larger(most, block_max(score, room));
    const S factor = exp2(most - top), p = exp2(score - top);
    total = total * factor + p;
    most = top;
    scores[thread] = p;
    __syncthreads();
    for (int c = thread; c < depth; c += threads) {
      S sum = sums[c] * factor;
      for (int t = 0; t < n; ++t) {
        const int slot = cache.slot_of(sequence, begin + t);
        sum = fused(scores[t], S(cache.values(slot, key_head, begin + t)[c]), sum);
      }
      sums[c] = sum;
    }
  }
  const S inverse = S(1) / block_sum(total, room);
  T* y = rows.y + std::int64_t(r) * rows.y_row + head * depth;
  for (int c = thread; c < depth; c += threads) y[c] = T(sums[c] * inverse);
}

template <class T>
void attend(Stream& stream, const QueryRows<T>& rows, const CachedHeads<T>& cache,
            Sequences queries, Sequences keys, int heads) {
  if (queries.total == 0) return;
  const int shared = int(sizeof(Wide<T>)) * (warp + threads + 2 * cache.depth);
  launch(stream, {{unsigned(queries.total), unsigned(heads)}, threads, shared}, attend_to_cache<T>,
         rows, cache, queries, keys);
}

template <class T>
void keep(Stream& stream, const T* from, int row, int key_width, const CachedHeads<T>& cache,
          Sequences sequences) {
  const std::int64_t n = std::int64_t(sequences.total) * key_width;
  if (n == 0) return;
  launch(stream, grid_of_elements(n), keep_rows<T>, from, row, key_width, cache, sequences, n);
}

}  // namespace

template <class T>
void cached_attention(Stream& stream, Input<T> qkv, Tensor<T> y, Cache<T> cache,
                      Sequences sequences, int heads, int window) {
  const int width = y.columns, row = qkv.columns, key_width = (row - width) / 2;
  const int depth = width / heads;
  const CachedHeads<T> kept = heads_of(cache, depth, window);
  keep<T>(stream, qkv.data + width, row, key_width, kept, sequences);
  attend<T>(stream, {qkv.data, y.data, row, width, width / key_width, 0}, kept, sequences, {},
            heads);
}

template <class T>
void cached_cross_attention(Stream& stream, Input<T> q, Input<T> kv, Tensor<T> y, Cache<T> cache,
                            Sequences queries, Sequences keys, int heads) {
  const int width = y.columns;
  const CachedHeads<T> kept = heads_of(cache, width / heads, 0);
  keep<T>(stream, kv.data, 2 * width, width, kept, keys);
  attend<T>(stream, {q.data, y.data, width, width, 1, 1}, kept, queries, keys, heads);
}

#define SINTER_INSTANTIATE(T)                                                                  \
  template void cached_attention(Stream&, Input<T>, Tensor<T>, Cache<T>, Sequences, int, int); \
  template void cached_cross_attention(Stream&, Input<T>, Input<T>, Tensor<T>, Cache<T>,       \
                                       Sequences, Sequences, int);
SINTER_EACH_ELEMENT(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE

}  // namespace sinter::kernel
