// SPDX-License-Identifier: Apache-2.0
// With p the probabilities, ds = p (dy v - Σ p dy v) and Σ p dy v = dy y: dq = ds k / √d, dk = dsᵀ q /
// √d and dv = pᵀ dy. Each gradient is summed by a kernel of its own, which computes of p and ds what
// it needs: a few products more than if all came of one, but no sum depends on the order of blocks.
#include "hardware/cuda/sums.hpp"
#include "kernels/cuda/attention.hpp"
#include "kernels/cuda/attention_tiles.hpp"
#include "kernels/elements.hpp"

namespace sinter::kernel {
namespace {

/// Whose gradient a kernel sums.
enum class Of { q, k, v };

/// Puts into the room what belongs to n queries from row `at` on: log_sum, to the base of 2; where
/// the gradient needs it, dy y; the keys of their masks.
template <Of of, class T, class S>
__device__ void load_queries(const Backward<T>& in, const Mask<S>& mask, std::int64_t at, int n,
                             int head, const Room<S>& room) {
  const int me = thread_of_block(), warps = across * int(blockDim.y) / warp;
  if (me < n) {
    room.first[me] = S(log2_e) * in.log_sum[(at + me) * in.heads + head];
    room.keys[me] = row_key(for_head(mask.dropout, head), at + me);
  }
  if constexpr (of != Of::v) {
    for (int r = me / warp; r < n; r += warps) {
      const T *dy = in.dy.of(at + r, head, in.depth), *y = in.y.of(at + r, head, in.depth);
      S sum = 0;
      for (int c = me % warp; c < in.depth; c += warp) sum += S(dy[c]) * S(y[c]);
      sum = warp_sum(sum);
      if (me % warp == 0) room.second[r] = sum;
    }
  }
}

/// A tile of pairs of a query and a key: rows of the block's tile, which starts at `first` in its
/// sequence, and n columns, which start at `other`.
struct Pairs {
  Span span;
  int most, first, other, n;
};

/// Stores a thread's factors of the other side's rows: p for dv, ds for others.
template <Of of, class S>
__device__ void store_weights(const S (&scores)[of_thread][of_thread],
                              const S (&slopes)[of_thread][of_thread], S scale, const Pairs& pairs,
                              const Mask<S>& mask, const Room<S>& room) {
  for (int i = 0; i < of_thread; ++i)
    for (int j = 0; j < of_thread; ++j) {
      const int r = my_rows() + i, c = my_column(j), row = pairs.first + r,
                column = pairs.other + c;
      const int q = of == Of::q ? r : c, query = of == Of::q ? row : column;
      const int key = of == Of::q ? column : row;
      S weight = 0;
      if (c < pairs.n && sees(pairs.span, pairs.most, query, key)) {
        // A score may be rounded to far above the logarithm of the sum that it is part of.
        const S exponent = scores[i][j] * scale - room.first[q];
        const S p = exp2(exponent > 0 ? S(0) : exponent);
        weight = of == Of::v ? p : slopes[i][j];
        if (mask.drops()) weight = mask.apply(weight, room.keys[q], key);
        if (of != Of::v) weight = p * (weight - room.second[q]);
      }
      room.mine[r * pitch + c] = weight;
    }
}

/// The operands of a gradient: rows that are multiplied to scores, and to dy v; what is summed.
template <class T>
struct Factors {
  Heads<const T> mine, theirs, mine_of_slopes, theirs_of_slopes, summed;
};
template <Of of, class T>
__device__ Factors<T> factors_of(const Backward<T>& in) {
  if (of == Of::q) return {in.q, in.k, in.dy, in.v, in.k};
  return {in.k, in.q, in.v, in.dy, of == Of::k ? in.q : in.dy};
}

/// Adds what a tile of n rows of the other side, from row `at` of all on, has of a head's sums.
template <Of of, class T, class S>
__device__ void add_tile(const Backward<T>& in, std::int64_t my_row, int count, std::int64_t at,
                         int head, const Pairs& pairs, const Mask<S>& mask, const Room<S>& room) {
  const Factors<T> f = factors_of<of>(in);
  const int depth = in.depth, n = pairs.n;
  const bool has_rows = my_rows() < count;
  S scores[of_thread][of_thread] = {}, slopes[of_thread][of_thread] = {};
  multiply_heads(room, f.mine.of(my_row, head, depth), f.mine.row, count,
                 f.theirs.of(at, head, depth), f.theirs.row, n, depth, has_rows, scores);
  if (of != Of::v)
    multiply_heads(room, f.mine_of_slopes.of(my_row, head, depth), f.mine_of_slopes.row, count,
                   f.theirs_of_slopes.of(at, head, depth), f.theirs_of_slopes.row, n, depth,
                   has_rows, slopes);
  if (has_rows)
    store_weights<of>(scores, slopes, S(log2_e / sqrt(double(depth))), pairs, mask, room);
  const T* summed = f.summed.of(at, head, depth);
  load_rows(summed, f.summed.row, n, 0, depth, room.theirs);
  __syncthreads();
  add_products(room, summed, f.summed.row, n, depth, has_rows, static_cast<const S*>(nullptr));
}

/// A block has a tile of queries of a head, or of keys of a head and all heads of queries that share
/// them.
template <Of of, class T, class S = Wide<T>>
__global__ void sum_gradient(Backward<T> in, Argument<Mask<S>> argument, Heads<T> to, bool add) {
  const int rows = int(blockDim.y) * of_thread, depth = in.depth;
  const Tile mine = tile_of_block(of == Of::q ? in.queries : in.keys, rows);
  if (mine.count <= 0) return;
  const Sequences& others = of == Of::q ? in.keys : in.queries;
  const int start = others.starts[mine.sequence], length = own_rows_of(others, mine.sequence);
  const Range seen =
      of == Of::q ? keys_seen(in.span, mine, length) : queries_seeing(in.span, mine, length);
  const std::int64_t at = std::int64_t(mine.start) + mine.first;
  const int sharing = of == Of::q ? 1 : in.k.sharing, first_head = int(blockIdx.y) * sharing;
  const Mask<S> mask = *argument;
  const Room<S> room(rows, depth);
  clear_sums(room.sums, depth);
  for (int head = first_head; head < first_head + sharing; ++head) {
    if (of == Of::q) load_queries<of>(in, mask, at, mine.count, head, room);
    for (int first = seen.first; first < seen.last; first += tile_rows) {
      const int n = seen.last - first < tile_rows ? seen.last - first : tile_rows;
      const std::int64_t theirs = std::int64_t(start) + first;
      const Pairs pairs{in.span, in.span.max_seen(mine.length), mine.first, first, n};
      __syncthreads();
      if (of != Of::q) load_queries<of>(in, mask, theirs, n, head, room);
      add_tile<of>(in, at, mine.count, theirs, head, pairs, mask, room);
    }
  }
  const S scale = of == Of::v ? S(1) : S(1 / sqrt(double(depth)));
  put_sums(room.sums, mine.count, depth, static_cast<const S*>(nullptr), scale,
           to.of(at, first_head, depth), to.row, add);
}

template <Of of, class T>
void put_gradient(Stream& stream, const Backward<T>& in, Heads<T> to, bool add,
                  const Dropout& dropout) {
  using S = Wide<T>;
  if (!to.data) return;
  const int rows = rows_for<S>(in.depth), heads = of == Of::q ? in.heads : in.heads / in.k.sharing;
  const Grid grid{{blocks_of(of == Of::q ? in.queries : in.keys, rows), unsigned(heads)},
                  {across, unsigned(rows / of_thread)},
                  Room<S>::bytes(rows, in.depth)};
  launch(stream, grid, sum_gradient<of, T, S>, in, stream.device().argument(Mask<S>(dropout)), to,
         add);
}

/// Clears what lies `columns` wide from `at` on in rows of padding.
template <class T>
__global__ void clear_rows(Sequences sequences, T* at, int row, int columns, std::int64_t n) {
  for_each_element(n, [=](std::int64_t i) {
    const int r = int(i / columns), s = sequence_of(sequences.starts, sequences.count, r);
    if (r - sequences.starts[s] >= own_rows_of(sequences, s))
      at[std::int64_t(r) * row + i % columns] = T(0);
  });
}

/// Clears the gradients of keys and values that no query sees. Those of values lie behind those of
/// keys.
template <class T>
void clear_padding(Stream& stream, const Backward<T>& in, const Gradients<T>& out) {
  if (!in.keys.lengths || !out.dk.data || out.add_to_keys) return;
  const int columns = 2 * (in.heads / in.k.sharing * in.depth);
  const std::int64_t n = std::int64_t(in.keys.total) * columns;
  launch(stream, grid_of_elements(n), clear_rows<T>, in.keys, out.dk.data, int(out.dk.row), columns,
         n);
}

/// scratch: attention_scratch<T>() elements for the rows and width of keys.
template <class T>
void propagate(Stream& stream, const Backward<T>& in, const Gradients<T>& out,
               [[maybe_unused]] Wide<T>* scratch, const Dropout& dropout) {
  clear_padding(stream, in, out);
  if constexpr (std::is_same_v<T, BFloat16>) {
    const int key_width = in.heads / in.k.sharing * in.depth;
    const bool has_room = !out.dk.data || attention_scratch<T>(in.keys.total, key_width) >=
                                              std::int64_t(in.queries.total) * in.heads;
    if (has_room &&
        fits_tensor_cores(in.depth, in.q, in.k, in.v, in.y, in.dy, out.dq, out.dk, out.dv))
      return propagate_by_tensor_cores(stream, in, out, scratch, dropout);
  }
  put_gradient<Of::q>(stream, in, out.dq, out.add_to_dq, dropout);
  put_gradient<Of::k>(stream, in, out.dk, out.add_to_keys, dropout);
  put_gradient<Of::v>(stream, in, out.dv, out.add_to_keys, dropout);
}

}  // namespace

template <class T, class S>
void attention_backward(Stream& stream, Input<T> qkv, Input<T> y, Input<T> dy, Input<S> log_sum,
                        Tensor<T> dqkv, Sequences sequences, AttentionSpan span, S* scratch,
                        Dropout dropout) {
  if (!qkv) return;  // no rows
  const int width = y.columns, row = qkv.columns, key_width = (row - width) / 2;
  const int sharing = width / key_width, heads = log_sum.columns;
  const Backward<T> in{{qkv.data, row, 1},
                       {qkv.data + width, row, sharing},
                       {qkv.data + width + key_width, row, sharing},
                       {y.data, width, 1},
                       {dy.data, width, 1},
                       log_sum.data,
                       sequences.with_padding(),
                       span.causal ? sequences.with_padding() : sequences,
                       {span.causal, span.window},
                       heads,
                       width / heads};
  const Gradients<T> out{{dqkv.data, row, 1},
                         {dqkv.data + width, row, sharing},
                         {dqkv.data + width + key_width, row, sharing},
                         dqkv.add,
                         dqkv.add};
  propagate(stream, in, out, scratch, dropout);
}

template <class T, class S>
void cross_attention_backward(Stream& stream, Input<T> q, Input<T> kv, Input<T> y, Input<T> dy,
                              Input<S> log_sum, Tensor<T> dq, Output<T> dkv, Sequences queries,
                              Sequences keys, S* scratch, Dropout dropout) {
  if (!q) return;  // no rows
  const int width = y.columns, row = kv.columns, heads = log_sum.columns;
  const Backward<T> in{{q.data, width, 1},
                       {kv.data, row, 1},
                       {kv.data + width, row, 1},
                       {y.data, width, 1},
                       {dy.data, width, 1},
                       log_sum.data,
                       queries.with_padding(),
                       keys,
                       {},
                       heads,
                       width / heads};
  const Gradients<T> out{{dq.data, width, 1},
                         {dkv.data, row, 1},
                         {dkv ? dkv.data + width : nullptr, row, 1},
                         dq.add,
                         dkv.add};
  propagate(stream, in, out, scratch, dropout);
}

#define SINTER_INSTANTIATE(T)                                                               \
  template void attention_backward(Stream&, Input<T>, Input<T>, Input<T>, Input<Wide<T>>,   \
                                   Tensor<T>, Sequences, AttentionSpan, Wide<T>*, Dropout); \
  template void cross_attention_backward(Stream&, Input<T>, Input<T>, Input<T>, Input<T>,   \
                                         Input<Wide<T>>, Tensor<T>, Tensor<T>, Sequences,   \
                                         Sequences, Wide<T>*, Dropout);
SINTER_EACH_ELEMENT(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE

}  // namespace sinter::kernel
