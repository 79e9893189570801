// SPDX-License-Identifier: Apache-2.0
#include "sinter/kernels/elementwise.hpp"

#include "device/cuda/sums.hpp"
#include "kernels/cuda/each_element.hpp"
#include "kernels/elements.hpp"

namespace sinter::kernel {
namespace {

template <class T>
__global__ void fill_elements(T* y, Told<Wide<T>> value, std::int64_t n) {
  const T element = T(*value);
  for_each_element(n, [=](std::int64_t i) { y[i] = element; });
}

template <class From, class To>
__global__ void cast_elements(const From* x, To* y, std::int64_t n) {
  for_each_element(n, [=](std::int64_t i) { y[i] = To(x[i]); });
}

template <class T>
__global__ void scale_elements(const T* x, Told<Wide<T>> told, T* y, std::int64_t n) {
  const Wide<T> factor = *told;
  for_each_element(n, [=](std::int64_t i) { y[i] = T(factor * Wide<T>(x[i])); });
}

template <class T>
__global__ void add_scaled_elements(const T* x, Told<Wide<T>> told, T* y, std::int64_t n) {
  const Wide<T> factor = *told;
  for_each_element(n,
                   [=](std::int64_t i) { y[i] = T(fused(factor, Wide<T>(x[i]), Wide<T>(y[i]))); });
}

template <class T>
__global__ void add_elements(const T* a, const T* b, T* y, std::int64_t n) {
  for_each_element(n, [=](std::int64_t i) { y[i] = T(Wide<T>(a[i]) + Wide<T>(b[i])); });
}

template <class T>
void add_arrays(Stream& stream, const T* a, const T* b, T* y, std::int64_t n) {
  launch(stream, grid_of_elements(n), add_elements<T>, a, b, y, n);
}

/// The sum of every 32nd row of a column, over parts of 64 summands, which keeps errors small.
template <class T>
__device__ Wide<T> sum_of_rows(const T* x, int row, int rows, int columns) {
  Wide<T> total = 0;
  while (row < rows) {
    Wide<T> part = 0;
    for (int k = 0; k < 64 && row < rows; ++k, row += warp)
      part += Wide<T>(x[std::int64_t(row) * columns]);
    total += part;
  }
  return total;
}

/// A block of 32 × 32 threads has 32 columns. A warp reads a row of them at once; then each warp sums
/// what all have of a column.
template <class T, class G>
__global__ void sum_columns(const T* x, G* sum, int rows, int columns, bool add) {
  using S = Wide<T>;
  S* room = shared_memory<S>();
  const int lane = int(threadIdx.x), mine = int(threadIdx.y);
  const int first = int(blockIdx.x) * warp;
  const int column = first + lane;
  room[lane * (warp + 1) + mine] =
      column < columns ? sum_of_rows(x + column, mine, rows, columns) : S(0);
  __syncthreads();
  const S total = warp_sum(room[mine * (warp + 1) + lane]);
  if (lane > 0 || first + mine >= columns) return;
  G* to = sum + first + mine;
  *to = G(add ? S(*to) + total : total);
}

}  // namespace

template <class T>
void fill(Stream& stream, T* y, Wide<T> value, std::int64_t n) {
  launch(stream, grid_of_elements(n), fill_elements<T>, y, stream.device().tell(value), n);
}

template <class T>
void copy(Stream& stream, const T* x, T* y, std::int64_t n) {
  if (x != y) launch(stream, grid_of_elements(n), cast_elements<T, T>, x, y, n);
}

template <class T>
void scale(Stream& stream, const T* x, Wide<T> factor, T* y, std::int64_t n) {
  launch(stream, grid_of_elements(n), scale_elements<T>, x, stream.device().tell(factor), y, n);
}

template <class T>
void scale(Stream& stream, Input<T> x, Wide<T> factor, Tensor<T> y) {
  const auto kernel = y.add ? add_scaled_elements<T> : scale_elements<T>;
  launch(stream, grid_of_elements(y.size()), kernel, x.data, stream.device().tell(factor), y.data,
         y.size());
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

template <class T, class G>
void column_sum(Stream& stream, Tensor<const T> x, Tensor<G> sum) {
  const int columns = sum.columns, room = warp * (warp + 1) * int(sizeof(Wide<T>));
  launch(stream, {unsigned(columns + warp - 1) / warp, {warp, warp}, room}, sum_columns<T, G>,
         x.data, sum.data, int(x.rows), columns, bool(sum.add));
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
