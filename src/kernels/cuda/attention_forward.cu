// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "kernels/cuda/attention.hpp"
#include "kernels/cuda/attention_tiles.hpp"
#include "kernels/elements.hpp"

namespace sinter::kernel {
namespace {

/// Threads of a row in softmax, which lie side by side in a warp, and scores of each in a tile.
constexpr int row_threads = 4, scores_of_thread = tile_rows / row_threads;

template <class S>
__device__ __forceinline__ S sum_of_row(S x) {
  x += __shfl_xor_sync(~0u, x, 1);
  return x + __shfl_xor_sync(~0u, x, 2);
}
template <class S>
__device__ __forceinline__ S max_of_row(S x) {
  for (int lanes = 1; lanes < row_threads; lanes *= 2) {
    const S other = __shfl_xor_sync(~0u, x, lanes);
    x = other > x ? other : x;
  }
  return x;
}

/// A row's running softmax over tiles of keys, to the base of 2 (Milakov & Gimelshein 2018): what
/// one of its threads knows.
template <class S>
struct Softmax {
  S most = -std::numeric_limits<S>::infinity(), sum = 0;  // sum: of this thread's scores

  /// Turns scores of the keys from `first` on, of which n are the row's, into probabilities relative
  /// to the largest score so far. Returns what earlier results must be multiplied by.
  __device__ S tile(S* scores, int n, const Mask<S>& mask, std::uint64_t key, int first) {
    const int begin = int(thread_of_block() % row_threads) * scores_of_thread;
    const int end = begin + scores_of_thread < n ? begin + scores_of_thread : n;
    S largest = most;
    for (int k = begin; k < end; ++k) largest = scores[k] > largest ? scores[k] : largest;
    largest = max_of_row(largest);
    // A row that has seen no key yet has no largest score.
    const S base = largest == -std::numeric_limits<S>::infinity() ? S(0) : largest;
    const S factor = exp2(most - base);
    S total = sum * factor;
    for (int k = begin; k < end; ++k) {
      const S p = exp2(scores[k] - base);
      total += p;
      scores[k] = mask.drops() ? mask.apply(p, key, first + k) : p;
    }
    most = largest;
    sum = total;
    return factor;
  }
};

/// Stores a thread's scores where the query sees the key, else -∞.
template <class S>
__device__ void store_scores(const S (&scores)[of_thread][of_thread], S scale, S* to,
                             const Span& span, int most, int first_query, int first_key) {
  for (int i = 0; i < of_thread; ++i)
    for (int j = 0; j < of_thread; ++j) {
      const int r = my_rows() + i, k = my_column(j);
      const bool seen = sees(span, most, first_query + r, first_key + k);
      to[r * pitch + k] = seen ? scores[i][j] * scale : -std::numeric_limits<S>::infinity();
    }
}

/// A block has a tile of queries of a head.
template <class T, class S = Wide<T>>
__global__ void attend_to_keys(Forward<T> in, Argument<Mask<S>> argument) {
  const int rows = int(blockDim.y) * of_thread, depth = in.depth, head = int(blockIdx.y);
  const Tile mine = tile_of_block(in.queries, rows);
  if (mine.count <= 0) return;
  const int start = in.keys.starts[mine.sequence];
  const int length = own_rows_of(in.keys, mine.sequence);
  const Range seen = keys_seen(in.span, mine, length);
  const std::int64_t at = std::int64_t(mine.start) + mine.first;
  const int row = thread_of_block() / row_threads, most = in.span.max_seen(length);
  const bool has_rows = my_rows() < mine.count;
  const Mask<S> mask = *argument;
  const std::uint64_t key = row_key(for_head(mask.dropout, head), at + row);
  const S scale = S(log2_e / sqrt(double(depth)));
  const T* q = in.q.of(at, head, depth);
  const Room<S> room(rows, depth);
  Softmax<S> softmax;
  clear_sums(room.sums, depth);
  for (int first = seen.first; first < seen.last; first += tile_rows) {
    const int n = seen.last - first < tile_rows ? seen.last - first : tile_rows;
    const T* k = in.k.of(std::int64_t(start) + first, head, depth);
    const T* v = in.v.of(std::int64_t(start) + first, head, depth);
    S scores[of_thread][of_thread] = {};
    __syncthreads();
    multiply_heads(room, q, in.q.row, mine.count, k, in.k.row, n, depth, has_rows, scores);
    if (has_rows) store_scores(scores, scale, room.mine, in.span, most, mine.first, first);
    load_rows(v, in.v.row, n, 0, depth, room.theirs);
    __syncthreads();
    const S factor = softmax.tile(room.mine + row * pitch, n, mask, key, first);
    if (thread_of_block() % row_threads == 0) room.first[row] = factor;
    __syncthreads();
    add_products(room, v, in.v.row, n, depth, has_rows, room.first);
  }
  const S sum = sum_of_row(softmax.sum);
  __syncthreads();
  if (thread_of_block() % row_threads == 0) {
    room.first[row] = S(1) / sum;
    if (row < mine.count)
      in.log_sum[(at + row) * in.heads + head] = softmax.most * S(ln_2) + log(sum);
  }
  __syncthreads();
  put_sums(room.sums, mine.count, depth, room.first, S(1), in.y.of(at, head, depth), in.y.row,
           false);
}

template <class T>
void attend(Stream& stream, const Forward<T>& in, const Dropout& dropout) {
  if constexpr (std::is_same_v<T, BFloat16>)
    if (fits_tensor_cores(in.depth, in.q, in.k, in.v, in.y))
      return attend_by_tensor_cores(stream, in, dropout);
  using S = Wide<T>;
  const int rows = rows_for<S>(in.depth);
  const Grid grid{{blocks_of(in.queries, rows), unsigned(in.heads)},
                  {across, unsigned(rows / of_thread)},
                  Room<S>::bytes(rows, in.depth)};
  launch(stream, grid, attend_to_keys<T, S>, in, stream.device().argument(Mask<S>(dropout)));
}

}  // namespace

template <class T, class S>
void attention_forward(Stream& stream, Input<T> qkv, Tensor<T> y, Tensor<S> log_sum,
                       Sequences sequences, AttentionSpan span, Dropout dropout) {
  if (!qkv) return;  // no rows
  const int width = y.columns, row = qkv.columns, key_width = (row - width) / 2;
  const int sharing = width / key_width, heads = log_sum.columns;
  const T* k = qkv.data + width;
  attend<T>(stream,
            {{qkv.data, row, 1},
             {k, row, sharing},
             {k + key_width, row, sharing},
             {y.data, width, 1},
             log_sum.data,
             sequences.with_padding(),
             span.causal ? sequences.with_padding() : sequences,
             {span.causal, span.window},
             heads,
             width / heads},
            dropout);
}

template <class T, class S>
void cross_attention_forward(Stream& stream, Input<T> q, Input<T> kv, Tensor<T> y,
                             Tensor<S> log_sum, Sequences queries, Sequences keys,
                             Dropout dropout) {
  if (!q) return;  // no rows
  const int width = y.columns, row = kv.columns, heads = log_sum.columns;
  attend<T>(stream,
            {{q.data, width, 1},
             {kv.data, row, 1},
             {kv.data + width, row, 1},
             {y.data, width, 1},
             log_sum.data,
             queries.with_padding(),
             keys,
             {},
             heads,
             width / heads},
            dropout);
}

#define SINTER_INSTANTIATE(T)                                                                    \
  template void attention_forward(Stream&, Input<T>, Tensor<T>, Tensor<Wide<T>>, Sequences,      \
                                  AttentionSpan, Dropout);                                       \
  template void cross_attention_forward(Stream&, Input<T>, Input<T>, Tensor<T>, Tensor<Wide<T>>, \
                                        Sequences, Sequences, Dropout);
SINTER_EACH_ELEMENT(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE

}  // namespace sinter::kernel
