// SPDX-License-Identifier: Apache-2.0
// What both directions of attention share. A block of threads has a tile of rows, queries or keys, of
// one head of one sequence, and goes over tiles of those on the other side (Dao 2023,
// FlashAttention-2). Products are of rows in shared memory, depth_part columns at a time, so that
// heads may be wide. Each thread has 4 × 4 results.
#pragma once
#include "kernels/cuda/each_element.hpp"
#include "kernels/cuda/mask.hpp"
#include "kernels/cuda/sequences.hpp"
#include "sinter/kernels/attention.hpp"

namespace sinter::kernel {

/// Rows of the other side that a block goes over at once, and columns of a head that it has in
/// shared memory of each row.
inline constexpr int tile_rows = 64, depth_part = 64;
/// A block is `across` threads wide, each of which has every 16th column, and a quarter of its rows
/// high.
inline constexpr int across = 16, of_thread = 4;
static_assert(across * of_thread == tile_rows && tile_rows == depth_part);
/// Elements from a row in shared memory to the next: odd, so that a column is in all banks.
inline constexpr int pitch = depth_part + 1;

constexpr double log2_e = 1.44269504088896340736, ln_2 = 0.69314718055994530942;

/// Rows of heads: those of queries, or of keys of which each belongs to `sharing` heads of queries.
template <class T>
struct Heads {
  T* data;
  std::int32_t row, sharing;  ///< row: elements from one to the next

  /// A row of what a head of queries has or sees.
  __device__ T* of(std::int64_t at, int head, int depth) const {
    return data + at * row + head / sharing * depth;
  }
};

/// AttentionSpan, without gaps.
struct Span {
  std::int32_t causal, window;

  __device__ int max_seen(int length) const {
    return window > 0 && window < length ? window : length;
  }
};

/// The operands of the forward pass.
template <class T>
struct Forward {
  Heads<const T> q, k, v;
  Heads<T> y;
  Wide<T>* log_sum;
  Sequences queries, keys;  ///< queries have no padding: all rows attend
  Span span;
  std::int32_t heads, depth;
};
/// The operands of the backward pass.
template <class T>
struct Backward {
  Heads<const T> q, k, v, y, dy;
  const Wide<T>* log_sum;
  Sequences queries, keys;
  Span span;
  std::int32_t heads, depth;
};
/// The places of gradients; no data if they are not wanted.
template <class T>
struct Gradients {
  Heads<T> dq, dk, dv;
  std::int32_t add_to_dq, add_to_keys;
};

/// Rows [first, first + count) of a sequence of `length` rows, without padding, that starts at row
/// `start` of all.
struct Tile {
  int sequence, start, length, first, count;
};

/// Returns the number of blocks to launch for tiles of `rows` rows, wherever the sequences start:
/// sequence s has those from starts[s] / rows + s on, of which the last ones may be empty.
inline unsigned blocks_of(const Sequences& sequences, int rows) {
  return unsigned(sequences.total / rows + sequences.count);
}

/// The tile of this block; count <= 0 if it has none. The last blocks come first, as they see the
/// most keys where attention is causal.
__device__ __forceinline__ Tile tile_of_block(const Sequences& sequences, int rows) {
  const std::int32_t* starts = sequences.starts;
  const int number = int(gridDim.x - 1 - blockIdx.x);
  const auto first_of = [=](int s) { return starts[s] / rows + s; };
  const int s = last_at_most(sequences.count, number, first_of);
  const int start = starts[s], length = own_rows_of(sequences, s);
  const int first = (number - first_of(s)) * rows, left = length - first;
  return {s, start, length, first, left < rows ? left : rows};
}

/// Rows [first, last) of a sequence.
struct Range {
  int first, last;
};

/// The keys that the queries of a tile see between them, in a sequence of `length` keys.
__device__ __forceinline__ Range keys_seen(const Span& span, const Tile& queries, int length) {
  if (!span.causal) return {0, length};
  const int first = queries.first + 1 - span.max_seen(length);
  return {first > 0 ? first : 0, queries.first + queries.count};
}

/// The queries that see a key of a tile, in a sequence of `length` queries.
__device__ __forceinline__ Range queries_seeing(const Span& span, const Tile& keys, int length) {
  if (!span.causal) return {0, length};
  const int last = keys.first + keys.count - 1 + span.max_seen(length);
  return {keys.first, last < length ? last : length};
}

/// True if a query sees a key; `most`: Span::max_seen() of the sequence.
__device__ __forceinline__ bool sees(const Span& span, int most, int query, int key) {
  return (span.causal == 0) | ((key <= query) & (key > query - most));
}

__device__ __forceinline__ int thread_of_block() {
  return int(threadIdx.y) * across + int(threadIdx.x);
}

/// Copies columns [first, first + depth_part) of up to `rows` rows into shared memory, widened.
template <class T, class S>
__device__ void load_rows(const T* from, int row, int rows, int first, int depth, S* to) {
  const int columns = depth - first < depth_part ? depth - first : depth_part;
  const int threads = across * int(blockDim.y);
  for (int i = thread_of_block(); i < rows * depth_part; i += threads) {
    const int r = i / depth_part, c = i % depth_part;
    if (c < columns) to[r * pitch + c] = S(from[std::int64_t(r) * row + first + c]);
  }
}

/// A thread's rows of a tile start here.
__device__ __forceinline__ int my_rows() { return int(threadIdx.y) * of_thread; }
/// Its j-th column of a tile, or of a part of a head.
__device__ __forceinline__ int my_column(int j) { return int(threadIdx.x) + j * across; }

/// c[i][j] += Σ_k a(i, k) b(j, k) over k in [0, n), for the thread's i and j. a: row i from i · pitch
/// on; b(j, k) is element j · Outer + k · Inner.
template <int Outer, int Inner, class S>
__device__ __forceinline__ void multiply(const S* a, const S* b, int n,
                                         S (&c)[of_thread][of_thread]) {
  a += my_rows() * pitch;
  for (int k = 0; k < n; ++k) {
    S left[of_thread], right[of_thread];
    for (int i = 0; i < of_thread; ++i) left[i] = a[i * pitch + k];
    for (int j = 0; j < of_thread; ++j) right[j] = b[my_column(j) * Outer + k * Inner];
    for (int i = 0; i < of_thread; ++i)
      for (int j = 0; j < of_thread; ++j) c[i][j] += left[i] * right[j];
  }
}

/// The shared memory of a block that has `rows` rows.
template <class S>
struct Room {
  std::uint64_t* keys;  ///< of dropout: a row's
  S *mine, *theirs;     ///< rows of the tile, later weights; rows of the other side
  S* sums;              ///< rows × depth
  S *first, *second;    ///< numbers of rows

  __device__ Room(int rows, int depth) {
    keys = shared_memory<std::uint64_t>();
    mine = reinterpret_cast<S*>(keys + tile_rows);
    theirs = mine + rows * pitch;
    sums = theirs + tile_rows * pitch;
    first = sums + rows * depth;
    second = first + tile_rows;
  }
  static int bytes(int rows, int depth) {
    const int elements = (rows + tile_rows) * pitch + rows * depth + 2 * tile_rows;
    return tile_rows * int(sizeof(std::uint64_t)) + elements * int(sizeof(S));
  }
};

/// Rows of a block's tile: the number with which a multiprocessor has room for two blocks, or the
/// fewest.
template <class S>
int rows_for(int depth) {
  constexpr int fewest = 16, max_bytes = 113 << 10;
  int rows = tile_rows;
  while (rows > fewest && Room<S>::bytes(rows, depth) > max_bytes) rows /= 2;
  return rows;
}

/// Clears a thread's sums, which no other thread touches until all is added.
template <class S>
__device__ void clear_sums(S* sums, int depth) {
  for (int i = 0; i < of_thread; ++i)
    for (int c = int(threadIdx.x); c < depth; c += across) sums[(my_rows() + i) * depth + c] = 0;
}

/// sums = factors of their rows · sums + weights (in room.mine) · n rows of the other side, the
/// first part of whose columns is in room.theirs. All threads of the block call it.
template <class T, class S>
__device__ void add_products(const Room<S>& room, const T* rows, int row, int n, int depth,
                             bool has_rows, const S* factors) {
  for (int part = 0; part < depth; part += depth_part) {
    if (part > 0) {
      __syncthreads();
      load_rows(rows, row, n, part, depth, room.theirs);
      __syncthreads();
    }
    if (!has_rows) continue;
    S sum[of_thread][of_thread] = {};
    multiply<1, pitch>(room.mine, room.theirs, n, sum);
    for (int i = 0; i < of_thread; ++i) {
      const int r = my_rows() + i;
      for (int j = 0; j < of_thread; ++j) {
        const int c = part + my_column(j);
        if (c >= depth) continue;
        S& to = room.sums[r * depth + c];
        to = factors ? factors[r] * to + sum[i][j] : to + sum[i][j];
      }
    }
  }
}

/// products += rows of the tile · rows of the other side. All threads of the block call it, after a
/// barrier behind the last use of room.mine and room.theirs, and find such a barrier behind it.
template <class T, class S>
__device__ void multiply_heads(const Room<S>& room, const T* mine, int mine_row, int count,
                               const T* theirs, int theirs_row, int n, int depth, bool has_rows,
                               S (&products)[of_thread][of_thread]) {
  for (int part = 0; part < depth; part += depth_part) {
    load_rows(mine, mine_row, count, part, depth, room.mine);
    load_rows(theirs, theirs_row, n, part, depth, room.theirs);
    __syncthreads();
    const int columns = depth - part < depth_part ? depth - part : depth_part;
    if (has_rows) multiply<pitch, 1>(room.mine, room.theirs, columns, products);
    __syncthreads();
  }
}

/// Puts a thread's sums, each times the factor of its row if there are factors, and `scale`.
template <class T, class S>
__device__ void put_sums(const S* sums, int count, int depth, const S* factors, S scale, T* to,
                         int row, bool add) {
  for (int i = 0; i < of_thread; ++i) {
    const int r = my_rows() + i;
    if (r >= count) return;
    const S factor = factors ? factors[r] * scale : scale;
    for (int c = int(threadIdx.x); c < depth; c += across)
      put_element(to + std::int64_t(r) * row + c, sums[r * depth + c] * factor, add);
  }
}

}  // namespace sinter::kernel
