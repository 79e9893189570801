// SPDX-License-Identifier: Apache-2.0
#include "sinter/kernels/loss.hpp"

#include <algorithm>

#include "device/cuda/maxima.hpp"
#include "kernels/cuda/each_element.hpp"
#include "kernels/elements.hpp"
#include "sinter/kernels/elementwise.hpp"
#include "sinter/kernels/matmul.hpp"

namespace sinter::kernel {
namespace {

constexpr int threads = 256, rows_of_block = threads / warp;

template <class T>
__global__ void widen_elements(const T* x, Wide<T>* y, std::int64_t n) {
  for_each_element(n, [=](std::int64_t i) { y[i] = Wide<T>(x[i]); });
}

template <class S, class G>
__global__ void put_elements(const S* x, G* y, bool add, std::int64_t n) {
  for_each_element(n, [=](std::int64_t i) { put_element(y + i, x[i], add); });
}

/// Rounds rows to T where they lie; a block has a row. Behind the barrier nobody reads what is
/// written: it takes half of the place of what was read.
template <class T>
__global__ void narrow_row(Wide<T>* data, int columns) {
  const Wide<T>* from = data + std::int64_t(blockIdx.x) * columns;
  T* to = reinterpret_cast<T*>(data + std::int64_t(blockIdx.x) * columns);
  for (int first = 0; first < columns; first += threads) {
    const int c = first + int(threadIdx.x);
    const Wide<T> x = c < columns ? from[c] : Wide<T>(0);
    __syncthreads();
    if (c < columns) to[c] = T(x);
  }
}

/// Logits and their gradient; rows are `stride` apart. What lies between them gets the slope 0.
template <class T>
struct Logits {
  const T* data;
  T* gradient;
  std::int32_t vocabulary, stride;
};

/// A block has a row. A thread reads again only what it alone writes.
template <class T, class S = Wide<T>>
__global__ void cross_entropy_rows(Logits<T> in, bool add, const std::int32_t* targets, S* losses,
                                   Told<double> told) {
  S* room = shared_memory<S>();
  const std::int64_t at = std::int64_t(blockIdx.x) * in.stride;
  const int target = targets[blockIdx.x], me = int(threadIdx.x);
  const T* x = in.data + at;
  T* slopes = in.gradient ? in.gradient + at : nullptr;
  if (slopes && !add)
    for (int c = me + (target < 0 ? 0 : in.vocabulary); c < in.stride; c += threads)
      slopes[c] = T(0.f);
  if (target < 0) {
    if (me == 0) losses[blockIdx.x] = 0;
    return;
  }
  S most = S(x[0]);
  for (int c = me; c < in.vocabulary; c += threads) most = larger(most, S(x[c]));
  const S of_target = S(x[target]);
  most = block_max(most, room);
  S sum = 0;
  for (int c = me; c < in.vocabulary; c += threads) sum += exp(S(x[c]) - most);
  sum = block_sum(sum, room);
  if (me == 0) losses[blockIdx.x] = log(sum) - (of_target - most);
  if (!slopes) return;
  const S weight = S(*told), factor = weight / sum;
  for (int c = me; c < in.vocabulary; c += threads) {
    S slope = exp(S(x[c]) - most) * factor;
    if (add) slope += S(slopes[c]);
    slopes[c] = T(c == target ? slope - weight : slope);
  }
}

/// A warp has a row.
template <class T, class S = Wide<T>>
__global__ void squared_errors(const T* x, const T* target, S* losses, T* dx, bool add, int rows,
                               int width, Told<double> weight) {
  const int row = int(blockIdx.x) * rows_of_block + int(threadIdx.x) / warp;
  const int lane = int(threadIdx.x) % warp;
  if (row >= rows) return;
  const S factor = S(2 * *weight);
  S sum = 0;
  for (int c = lane; c < width; c += warp) {
    const std::int64_t i = std::int64_t(row) * width + c;
    const S difference = S(x[i]) - S(target[i]);
    sum += difference * difference;
    if (dx) put_element(dx + i, factor * difference, add);
  }
  sum = warp_sum(sum);
  if (lane == 0) losses[row] = sum;
}

template <class T, class S>
void cross_entropy_of(Stream& stream, const Logits<T>& logits, bool add,
                      const std::int32_t* targets, S* losses, double weight, int rows) {
  launch(stream, {unsigned(rows), threads, threads / warp * int(sizeof(S))},
         cross_entropy_rows<T, S>, logits, add, targets, losses, stream.device().tell(weight));
}

/// The rows of a matrix, rounded to T where they lie; they keep their distance.
template <class T>
Matrix<const T> narrow_rows(Stream& stream, Tensor<Wide<T>> rows) {
  constexpr int ratio = sizeof(Wide<T>) / sizeof(T);
  if constexpr (ratio > 1)
    launch(stream, {unsigned(rows.rows), threads}, narrow_row<T>, rows.data, int(rows.columns));
  return {reinterpret_cast<const T*>(rows.data), rows.rows, rows.columns,
          std::int64_t(ratio) * rows.columns};
}

/// Both kernels of a head. With a bias the last row of `logits` is not of a chunk: it holds the
/// bias, or its gradient, in the wide type.
template <class T, class S, class G>
void head_in_chunks(Stream& stream, Input<T> x, Input<T> table, Input<T> bias,
                    Input<std::int32_t> targets, Output<S> losses, Tensor<T> dx, Tensor<G> dtable,
                    Tensor<G> dbias, double weight, Tensor<S> logits) {
  const int width = x.columns, columns = logits.columns, chunk = logits.rows - bool(bias);
  const Tensor<const T> weights(table.data, columns, width);  // with their padding
  const Tensor<S> wide_bias(bias ? logits.data + std::int64_t(chunk) * columns : nullptr, 1,
                            columns);
  const bool gradients = dx || dtable || dbias;
  if (dtable && x.rows <= 0 && !dtable.add)
    fill(stream, dtable.data, G(0), std::int64_t(columns) * width);
  if (dbias && x.rows <= 0 && !dbias.add) fill(stream, dbias.data, G(0), columns);
  for (int first = 0; first < x.rows; first += chunk) {
    const int count = std::min(chunk, x.rows - first);
    const auto at = std::int64_t(first) * width;
    const Tensor<const T> inputs(x.data + at, count, width);
    const Tensor<S> some(logits.data, count, columns);
    if (bias) {
      launch(stream, grid_of_elements(columns), widen_elements<T>, bias.data, wide_bias.data,
             columns);
      matmul_bias(stream, inputs, transposed(weights), wide_bias, some);
    } else {
      matmul(stream, inputs, transposed(weights), some);
    }
    const Logits<S> of_chunk{logits.data, gradients ? logits.data : nullptr, table.rows, columns};
    cross_entropy_of(stream, of_chunk, false, targets.data + first, losses.data + first, weight,
                     count);
    if (!gradients) continue;
    if (dbias) {
      column_sum(stream, some, wide_bias);
      launch(stream, grid_of_elements(columns), put_elements<S, G>, wide_bias.data, dbias.data,
             dbias.add || first > 0, columns);
    }
    const auto slopes = narrow_rows<T>(stream, some);
    auto turned = slopes;
    turned.transposed = true;
    if (dx) matmul(stream, slopes, weights, Tensor<T>(dx.data + at, count, width, dx.add));
    if (dtable)
      matmul(stream, turned, inputs,
             Tensor<G>(dtable.data, columns, width, dtable.add || first > 0));
  }
}

}  // namespace

template <class T, class S>
void cross_entropy(Stream& stream, Input<T> logits, Input<std::int32_t> targets, Tensor<S> losses,
                   Tensor<T> dlogits, double weight) {
  const Logits<T> all{logits.data, dlogits.data, logits.columns, logits.columns};
  cross_entropy_of(stream, all, dlogits.add, targets.data, losses.data, weight, logits.rows);
}

template <class T, class S, class G>
void linear_cross_entropy(Stream& stream, Input<T> x, Input<T> table, Input<std::int32_t> targets,
                          Output<S> losses, Tensor<T> dx, Tensor<G> dtable, double weight,
                          Tensor<S> logits) {
  head_in_chunks<T, S, G>(stream, x, table, {}, targets, losses, dx, dtable, {}, weight, logits);
}

template <class T, class S, class G>
void linear_bias_cross_entropy(Stream& stream, Input<T> x, Input<T> table, Input<T> bias,
                               Input<std::int32_t> targets, Output<S> losses, Tensor<T> dx,
                               Tensor<G> dtable, Tensor<G> dbias, double weight, Tensor<S> logits) {
  head_in_chunks(stream, x, table, bias, targets, losses, dx, dtable, dbias, weight, logits);
}

template <class T, class S>
void mean_squared_error(Stream& stream, Input<T> x, Input<T> target, Tensor<S> losses, Tensor<T> dx,
                        double weight) {
  launch(stream, {blocks_of(x.rows, rows_of_block), threads}, squared_errors<T, S>, x.data,
         target.data, losses.data, dx.data, bool(dx.add), int(x.rows), int(x.columns),
         stream.device().tell(weight));
}

#define SINTER_INSTANTIATE(T)                                                                     \
  template void cross_entropy(Stream&, Input<T>, Input<std::int32_t>, Tensor<Wide<T>>, Tensor<T>, \
                              double);                                                            \
  template void mean_squared_error(Stream&, Input<T>, Input<T>, Tensor<Wide<T>>, Tensor<T>, double);
SINTER_EACH_ELEMENT(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE
#define SINTER_INSTANTIATE(T, G)                                                           \
  template void linear_cross_entropy(Stream&, Input<T>, Input<T>, Input<std::int32_t>,     \
                                     Output<Wide<T>>, Tensor<T>, Tensor<G>, double,        \
                                     Tensor<Wide<T>>);                                     \
  template void linear_bias_cross_entropy(Stream&, Input<T>, Input<T>, Input<T>,           \
                                          Input<std::int32_t>, Output<Wide<T>>, Tensor<T>, \
                                          Tensor<G>, Tensor<G>, double, Tensor<Wide<T>>);
SINTER_EACH_GRADIENT(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE

}  // namespace sinter::kernel
