// SPDX-License-Identifier: Apache-2.0
#include "sinter/kernels/elementwise.hpp"

#include "hardware/cuda/sums.hpp"
#include "kernels/cuda/packs.hpp"
#include "kernels/elements.hpp"

namespace sinter::kernel {
namespace {

template <class T>
__global__ void fill_elements(T* y, Argument<Wide<T>> value, std::int64_t n) {
  const Wide<T> element = *value;
  map_elements(n, y, [=] { return element; });
}

template <class From, class To>
__global__ void cast_elements(const From* x, To* y, std::int64_t n) {
  map_elements(n, y, [](Wide<From> value) { return value; }, x);
}

template <class T>
__global__ void scale_elements(const T* x, Argument<Wide<T>> argument, T* y, std::int64_t n) {
  const Wide<T> factor = *argument;
  map_elements(n, y, [=](Wide<T> value) { return factor * value; }, x);
}

template <class T>
__global__ void add_scaled_elements(const T* x, Argument<Wide<T>> argument, T* y, std::int64_t n) {
  const Wide<T> factor = *argument;
  const T* before = y;
  map_elements(
      n, y, [=](Wide<T> value, Wide<T> sum) { return fused(factor, value, sum); }, x, before);
}

template <class T>
__global__ void add_elements(const T* a, const T* b, T* y, std::int64_t n) {
  map_elements(n, y, [](Wide<T> first, Wide<T> second) { return first + second; }, a, b);
}

template <class T>
void add_arrays(Stream& stream, const T* a, const T* b, T* y, std::int64_t n) {
  launch(stream, grid_of_elements(n), add_elements<T>, a, b, y, n);
}

/// Warps of a block that sums columns.
constexpr int sum_warps = 8;

/// Adds rows [row, end), each sum_warps from the next, of N columns, over parts of 64 summands, which keeps
/// errors small.
template <int N, class T, class S>
__device__ void add_rows_of(const T* x, int row, int end, int columns, Pack<S, N>& sums) {
  while (row < end) {
    Pack<S, N> part{};
    SINTER_UNROLL_BY(8)
    for (int k = 0; k < 64 && row < end; ++k, row += sum_warps) {
      const Pack<T, N> mine = load_pack<N>(x + std::int64_t(row) * columns);
      SINTER_UNROLL
      for (int j = 0; j < N; ++j) part.x[j] += Wide<T>(mine.x[j]);
    }
    SINTER_UNROLL
    for (int j = 0; j < N; ++j) sums.x[j] += part.x[j];
  }
}

/// A block has 32 packs of N columns of a strip of rows, and each of its warps every sum_warps-th row of
/// them. Of several strips the sums are G's, a row for each.
template <int N, class T, class G>
__global__ void sum_columns(const T* x, G* sum, int rows, int columns, int strip, bool add) {
  using S = Wide<T>;
  constexpr int wide = warp * N;
  S* room = shared_memory<S>();
  const int mine = int(threadIdx.y), first = int(blockIdx.x) * wide,
            begin = int(blockIdx.y) * strip;
  const int column = first + int(threadIdx.x) * N,
            end = begin + strip < rows ? begin + strip : rows;
  Pack<S, N> sums{};
  if (column < columns) add_rows_of<N>(x + column, begin + mine, end, columns, sums);
  SINTER_UNROLL
  for (int j = 0; j < N; ++j) room[mine * wide + int(threadIdx.x) * N + j] = sums.x[j];
  __syncthreads();
  for (int c = mine * warp + int(threadIdx.x); c < wide; c += sum_warps * warp) {
    if (first + c >= columns) return;
    S total = 0;
    for (int k = 0; k < sum_warps; ++k) total += room[k * wide + c];
    G* to = sum + std::int64_t(blockIdx.y) * columns + first + c;
    *to = G(add ? S(*to) + total : total);
  }
}

/// Strips of rows, so that some blocks are at work on each multiprocessor; no more than have room in the
/// stream's scratch, and none of but a few rows.
template <class S>
int strips_of(int rows, int columns, int across) {
  constexpr int wanted_blocks = 4 * 132, fewest_rows = 64;
  const std::int64_t room = std::int64_t(Stream::Pool::scratch_bytes / sizeof(S)) / columns;
  return int(std::max<std::int64_t>(
      std::min<std::int64_t>({wanted_blocks / across, rows / fewest_rows, room}), 1));
}

template <int N, class T, class G>
void launch_sums(Stream& stream, const T* x, G* sum, int rows, int columns, int strips, bool add) {
  const int room = sum_warps * warp * N * int(sizeof(Wide<T>));
  launch(stream, {{blocks_of(columns, warp * N), unsigned(strips)}, {warp, sum_warps}, room},
         sum_columns<N, T, G>, x, sum, rows, columns, int(blocks_of(rows, strips)), add);
}

template <int N, class T, class G>
void sum_in_strips(Stream& stream, Tensor<const T> x, Tensor<G> sum) {
  using S = Wide<T>;
  const int rows = x.rows, columns = sum.columns;
  const int strips = strips_of<S>(rows, columns, int(blocks_of(columns, warp * N)));
  if (strips == 1) return launch_sums<N>(stream, x.data, sum.data, rows, columns, 1, sum.add);
  S* parts = reinterpret_cast<S*>(stream.device().scratch);
  launch_sums<N>(stream, x.data, parts, rows, columns, strips, false);
  launch_sums<N>(stream, static_cast<const S*>(parts), sum.data, strips, columns, 1, sum.add);
}

}  // namespace

template <class T>
void fill(Stream& stream, T* y, Wide<T> value, std::int64_t n) {
  launch(stream, grid_of_elements(n), fill_elements<T>, y, stream.device().argument(value), n);
}

template <class T>
void copy(Stream& stream, const T* x, T* y, std::int64_t n) {
  if (x != y) launch(stream, grid_of_elements(n), cast_elements<T, T>, x, y, n);
}

template <class T>
void scale(Stream& stream, const T* x, Wide<T> factor, T* y, std::int64_t n) {
  launch(stream, grid_of_elements(n), scale_elements<T>, x, stream.device().argument(factor), y, n);
}

template <class T>
void scale(Stream& stream, Input<T> x, Wide<T> factor, Tensor<T> y) {
  const auto kernel = y.add ? add_scaled_elements<T> : scale_elements<T>;
  launch(stream, grid_of_elements(y.size()), kernel, x.data, stream.device().argument(factor),
         y.data, y.size());
}

template <class T>
void accumulate(Stream& stream, const T* a, T* y, std::int64_t n) {
  add_arrays<T>(stream, y, a, y, n);
}

template <class T>
void add(Stream& stream, Input<T> a, Input<T> b, Tensor<T> y) {
  add_arrays(stream, a.data, b.data, y.data, y.size());
}

template <class T>
void put(Stream& stream, Input<T> x, Tensor<T> y) {
  return y.add ? accumulate(stream, x.data, y.data, y.size())
               : copy(stream, x.data, y.data, y.size());
}

template <class From, class To>
void cast(Stream& stream, const From* x, To* y, std::int64_t n) {
  launch(stream, grid_of_elements(n), cast_elements<From, To>, x, y, n);
}

/// In packs of a size that is the same for all types, so that sums are taken in the same order.
template <class T, class G>
void column_sum(Stream& stream, Tensor<const T> x, Tensor<G> sum) {
  constexpr int most = 4;
  if (sum.columns % most == 0 && may_be_packs(x.data)) return sum_in_strips<most>(stream, x, sum);
  sum_in_strips<1>(stream, x, sum);
}

#define SINTER_INSTANTIATE(T)                                        \
  template void fill(Stream&, T*, Wide<T>, std::int64_t);            \
  template void copy(Stream&, const T*, T*, std::int64_t);           \
  template void add(Stream&, Input<T>, Input<T>, Tensor<T>);         \
  template void put(Stream&, Input<T>, Tensor<T>);                   \
  template void scale(Stream&, const T*, Wide<T>, T*, std::int64_t); \
  template void scale(Stream&, Input<T>, Wide<T>, Tensor<T>);        \
  template void accumulate(Stream&, const T*, T*, std::int64_t);
SINTER_EACH_ELEMENT(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE
#define SINTER_INSTANTIATE(T, G) template void column_sum(Stream&, Tensor<const T>, Tensor<G>);
SINTER_EACH_GRADIENT(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE
#define SINTER_INSTANTIATE(T)                                  \
  template void cast(Stream&, const float*, T*, std::int64_t); \
  template void cast(Stream&, const T*, float*, std::int64_t);
SINTER_INSTANTIATE(double)
SINTER_EACH_NARROW(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE

}  // namespace sinter::kernel
