// SPDX-License-Identifier: Apache-2.0
#include "sinter/kernels/normalize.hpp"

#include <algorithm>

#include "hardware/cuda/sums.hpp"
#include "kernels/cuda/packs.hpp"
#include "kernels/elements.hpp"

namespace sinter::kernel {
namespace {

constexpr int threads = 256, rows_of_block = threads / warp;
/// Rows that a block has at once in the backward pass.
constexpr int rows_at_once = 2 * rows_of_block;

/// Where rows are not centred, the mean is zero.
template <bool Centred, class S, class T>
__device__ __forceinline__ S centred(T x, S mean) {
  return Centred ? S(x) - mean : S(x);
}

/// Calls body(c) for the first column c of each pack of N columns that a lane has of a row.
template <int N, class F>
__device__ __forceinline__ void for_each_pack(int width, const F& body) {
  for (int c = int(threadIdx.x) % warp * N; c < width; c += warp * N) body(c);
}

/// A warp has a row, in packs of N elements. b, if any: the second summand of h.
template <bool Centred, int N, class T, class S>
__global__ void forward_rows(const T* a, const T* b, const T* weight, const T* bias, T* h, T* y,
                             S* means, S* inverses, int rows, int width, S eps) {
  const int row = int(blockIdx.x) * rows_of_block + int(threadIdx.x) / warp;
  if (row >= rows) return;
  const std::int64_t at = std::int64_t(row) * width;
  const T* x = a + at;
  S sum = 0;
  if (Centred || b)
    for_each_pack<N>(width, [&](int c) {
      Pack<T, N> mine = load_pack<N>(x + c);
      if (b) {
        const Pack<T, N> other = load_pack<N>(b + at + c);
        SINTER_UNROLL
        for (int k = 0; k < N; ++k) mine.x[k] = T(S(mine.x[k]) + S(other.x[k]));
        store_pack(h + at + c, mine);
      }
      SINTER_UNROLL
      for (int k = 0; k < N; ++k) sum += S(mine.x[k]);
    });
  if (b) x = h + at;  // each lane reads what it wrote
  const S mean = Centred ? warp_sum(sum) / S(width) : S(0);
  S squares = 0;
  for_each_pack<N>(width, [&](int c) {
    const Pack<T, N> mine = load_pack<N>(x + c);
    SINTER_UNROLL
    for (int k = 0; k < N; ++k) {
      const S v = centred<Centred>(mine.x[k], mean);
      squares += v * v;
    }
  });
  const S inverse = S(1) / sqrt(warp_sum(squares) / S(width) + eps);
  for_each_pack<N>(width, [&](int c) {
    const Pack<T, N> mine = load_pack<N>(x + c), factors = load_pack<N>(weight + c);
    Pack<T, N> more{}, result;
    if (Centred) more = load_pack<N>(bias + c);
    SINTER_UNROLL
    for (int k = 0; k < N; ++k) {
      const S normal = centred<Centred>(mine.x[k], mean) * inverse * S(factors.x[k]);
      result.x[k] = T(Centred ? normal + S(more.x[k]) : normal);
    }
    store_pack(y + at + c, result);
  });
  if (threadIdx.x % warp > 0) return;
  if (Centred) means[row] = mean;
  inverses[row] = inverse;
}

/// What backward reads of each row, and of all.
template <class T, class S>
struct Rows {
  const T *x, *weight, *dy;
  const S *means, *inverses;
  std::int32_t rows, width;
};

template <class T>
struct Gradients {
  const T* dh_in;
  T *dx, *dx2;
  std::int32_t add_dx, add_dx2;
};

/// Puts N elements.
template <int N, class T, class S>
__device__ __forceinline__ void put_pack(T* to, const Pack<S, N>& from, bool add) {
  Pack<T, N> result{};
  if (add) result = load_pack<N>(to);
  SINTER_UNROLL
  for (int k = 0; k < N; ++k) put_element(result.x + k, from.x[k], add);
  store_pack(to, result);
}

/// dx of a row, by a warp, in packs of N elements. With n = (x - mean) inverse and e = dy weight: dx =
/// inverse (e - mean(e) - n mean(e n)); without mean(e) where rows are not centred.
template <bool Centred, int N, class T, class S>
__device__ __forceinline__ void backward_row(const Rows<T, S>& in, const Gradients<T>& out,
                                             int row) {
  const int width = in.width;
  const std::int64_t at = std::int64_t(row) * width;
  const S mean = Centred ? in.means[row] : S(0), inverse = in.inverses[row];
  // Calls body(c, e, n) for each pack.
  const auto each = [&](const auto& body) {
    for_each_pack<N>(width, [&](int c) {
      const Pack<T, N> x = load_pack<N>(in.x + at + c), dy = load_pack<N>(in.dy + at + c),
                       weight = load_pack<N>(in.weight + c);
      Pack<S, N> e, n;
      SINTER_UNROLL
      for (int k = 0; k < N; ++k) {
        e.x[k] = S(dy.x[k]) * S(weight.x[k]);
        n.x[k] = centred<Centred>(x.x[k], mean) * inverse;
      }
      body(c, e, n);
    });
  };
  S sum_e = 0, sum_en = 0;
  each([&](int, const Pack<S, N>& e, const Pack<S, N>& n) {
    SINTER_UNROLL
    for (int k = 0; k < N; ++k) {
      sum_e += e.x[k];
      sum_en += e.x[k] * n.x[k];
    }
  });
  const S mean_e = Centred ? warp_sum(sum_e) / S(width) : S(0);
  const S mean_en = warp_sum(sum_en) / S(width);
  each([&](int c, const Pack<S, N>& e, const Pack<S, N>& n) {
    Pack<T, N> more{};
    if (out.dh_in) more = load_pack<N>(out.dh_in + at + c);
    Pack<S, N> dx;
    SINTER_UNROLL
    for (int k = 0; k < N; ++k) {
      dx.x[k] = inverse * (e.x[k] - mean_e - n.x[k] * mean_en);
      if (out.dh_in) dx.x[k] += S(more.x[k]);
    }
    if (out.dx) put_pack<N>(out.dx + at + c, dx, out.add_dx);
    if (out.dx2) put_pack<N>(out.dx2 + at + c, dx, out.add_dx2);
  });
}

/// Adds what rows [first, end) give the weight, and behind that the bias, to the block's sums, which begin with
/// its first rows. A thread has packs of N columns.
template <bool Centred, int N, class T, class S>
__device__ __forceinline__ void sum_columns(const Rows<T, S>& in, int first, int end, bool begins,
                                            S* sums) {
  const int width = in.width;
  for (int c = int(threadIdx.x) * N; c < width; c += threads * N) {
    Pack<S, N> dweight{}, dbias{};
    if (!begins) {
      dweight = load_pack<N>(sums + c);
      if (Centred) dbias = load_pack<N>(sums + width + c);
    }
    SINTER_UNROLL_BY(8)
    for (int r = first; r < end; ++r) {
      const std::int64_t at = std::int64_t(r) * width + c;
      const Pack<T, N> x = load_pack<N>(in.x + at), dy = load_pack<N>(in.dy + at);
      const S mean = Centred ? in.means[r] : S(0), inverse = in.inverses[r];
      SINTER_UNROLL
      for (int k = 0; k < N; ++k) {
        dweight.x[k] += S(dy.x[k]) * (centred<Centred>(x.x[k], mean) * inverse);
        dbias.x[k] += S(dy.x[k]);
      }
    }
    store_pack(sums + c, dweight);
    if (Centred) store_pack(sums + width + c, dbias);
  }
}

/// A block has every gridDim.x-th part of the rows, and reads it once from the card's memory. sums:
/// of each block, or null if they are not wanted.
template <bool Centred, int N, class T, class S>
__global__ void backward_rows(Rows<T, S> in, Gradients<T> out, S* sums) {
  if (sums) sums += std::int64_t(blockIdx.x) * (Centred ? 2 : 1) * in.width;
  const int me = int(blockIdx.x), step = int(gridDim.x) * rows_at_once;
  for (int first = me * rows_at_once; first < in.rows; first += step) {
    const int end = first + rows_at_once < in.rows ? first + rows_at_once : in.rows;
    if (sums) {
      sum_columns<Centred, N>(in, first, end, first == me * rows_at_once, sums);
      __syncthreads();  // dx may take the place of dy
    }
    if (!out.dx && !out.dx2) continue;
    for (int r = first + int(threadIdx.x) / warp; r < end; r += rows_of_block)
      backward_row<Centred, N>(in, out, r);
  }
}

/// The blocks' sums: a thread adds those of every 8th block, in order, and then one those of 8 threads.
template <class S, class G>
__global__ void sum_blocks(const S* sums, int blocks, int width, int all, G* dweight, bool add,
                           G* dbias, bool add_bias) {
  S* room = shared_memory<S>();
  const int lane = int(threadIdx.x) % warp, part = int(threadIdx.x) / warp;
  const int column = int(blockIdx.x) * warp + lane;
  S sum = 0;
  if (column < all)
    for (int b = part; b < blocks; b += rows_of_block) sum += sums[std::int64_t(b) * all + column];
  room[threadIdx.x] = sum;
  __syncthreads();
  if (part > 0 || column >= all) return;
  for (int other = 1; other < rows_of_block; ++other) sum += room[other * warp + lane];
  if (column < width)
    put_element(dweight + column, sum, add);
  else
    put_element(dbias + column - width, sum, add_bias);
}

/// Calls call(std::integral_constant<int, N>()) with the size of packs that rows may be read in, which
/// begin at these places: the same for all types, so that sums are taken in the same order.
template <class F, class... P>
void with_packs(int width, const F& call, const P*... at) {
  constexpr int most = 4;
  if (width % most == 0 && may_be_packs(at...)) return call(std::integral_constant<int, most>());
  call(std::integral_constant<int, 1>());
}

template <bool Centred, class T, class S, class G>
void backward(Stream& stream, const Rows<T, S>& in, const Gradients<T>& out, Tensor<G> dweight,
              Tensor<G> dbias, S* scratch, int max_blocks) {
  const int parts = int(blocks_of(in.rows, rows_at_once));
  const int blocks = dweight ? std::min(parts, max_blocks) : parts;
  if (dweight || out.dx || out.dx2)
    with_packs(
        in.width,
        [&]<int N>(std::integral_constant<int, N>) {
          launch(stream, {unsigned(blocks), threads}, backward_rows<Centred, N, T, S>, in, out,
                 dweight ? scratch : nullptr);
        },
        in.x, in.weight, in.dy, out.dh_in, out.dx, out.dx2, scratch);
  const int all = (Centred ? 2 : 1) * in.width;
  if (dweight)
    launch(stream, {blocks_of(all, warp), threads, threads * int(sizeof(S))}, sum_blocks<S, G>,
           scratch, blocks, in.width, all, dweight.data, bool(dweight.add), dbias.data,
           bool(dbias.add));
}

template <class T, class S>
void forward(Stream& stream, const T* a, const T* b, const T* weight, const T* bias, T* h,
             Tensor<T> y, S* means, S* inverses, S eps) {
  with_packs(
      y.columns,
      [&]<int N>(std::integral_constant<int, N>) {
        const auto kernel = means ? forward_rows<true, N, T, S> : forward_rows<false, N, T, S>;
        launch(stream, {blocks_of(y.rows, rows_of_block), threads}, kernel, a, b, weight, bias, h,
               y.data, means, inverses, int(y.rows), int(y.columns), eps);
      },
      a, b, weight, bias, h, static_cast<const T*>(y.data));
}

}  // namespace

template <class T, class S>
void normalize_forward(Stream& stream, Input<T> x, Input<T> weight, Input<T> bias, Tensor<T> y,
                       Output<S> mean, Tensor<S> inverse, double eps) {
  forward<T, S>(stream, x.data, nullptr, weight.data, bias.data, nullptr, y, mean.data,
                inverse.data, S(eps));
}

template <class T, class S>
void add_normalize_forward(Stream& stream, Input<T> a, Input<T> b, Input<T> weight, Input<T> bias,
                           Output<T> h, Tensor<T> y, Output<S> mean, Tensor<S> inverse,
                           double eps) {
  forward<T, S>(stream, a.data, b.data, weight.data, bias.data, h.data, y, mean.data, inverse.data,
                S(eps));
}

template <class T, class S, class G>
void normalize_backward(Stream& stream, Input<T> x, Input<T> weight, Input<S> mean,
                        Input<S> inverse, Input<T> dy, Input<T> dh_in, Tensor<T> dx, Output<T> dx2,
                        Tensor<G> dweight, Output<G> dbias, S* scratch, int blocks) {
  const Rows<T, S> in{x.data, weight.data, dy.data, mean.data, inverse.data, x.rows, x.columns};
  const Gradients<T> out{dh_in.data, dx.data, dx2.data, dx.add, dx2.add};
  // Without rows there is no mean either.
  if (mean || dbias) return backward<true>(stream, in, out, dweight, dbias, scratch, blocks);
  backward<false>(stream, in, out, dweight, dbias, scratch, blocks);
}

#define SINTER_INSTANTIATE(T)                                                                     \
  template void normalize_forward(Stream&, Input<T>, Input<T>, Input<T>, Tensor<T>,               \
                                  Output<Wide<T>>, Tensor<Wide<T>>, double);                      \
  template void add_normalize_forward(Stream&, Input<T>, Input<T>, Input<T>, Input<T>, Output<T>, \
                                      Tensor<T>, Output<Wide<T>>, Tensor<Wide<T>>, double);
SINTER_EACH_ELEMENT(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE
#define SINTER_INSTANTIATE(T, G)                                                                   \
  template void normalize_backward(Stream&, Input<T>, Input<T>, Input<Wide<T>>, Input<Wide<T>>,    \
                                   Input<T>, Input<T>, Tensor<T>, Output<T>, Tensor<G>, Output<G>, \
                                   Wide<T>*, int);
SINTER_EACH_GRADIENT(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE

}  // namespace sinter::kernel
