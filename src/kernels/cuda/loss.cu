// SPDX-License-Identifier: Apache-2.0
#include "sinter/kernels/loss.hpp"

#include <algorithm>
#include <limits>

#include "hardware/cuda/maxima.hpp"
#include "kernels/cuda/packs.hpp"
#include "kernels/elements.hpp"
#include "sinter/kernels/elementwise.hpp"
#include "sinter/kernels/matmul.hpp"

namespace sinter::kernel {
namespace {

constexpr int threads = 256, rows_of_block = threads / warp;
/// Threads of a block that has a long row for itself.
constexpr int max_threads = 1024, long_row = 16384;

template <class T>
__global__ void widen_elements(const T* x, Wide<T>* y, std::int64_t n) {
  for_each_element(n, [=](std::int64_t i) { y[i] = Wide<T>(x[i]); });
}

template <class S, class G>
__global__ void put_elements(const S* x, G* y, bool add, std::int64_t n) {
  for_each_element(n, [=](std::int64_t i) { put_element(y + i, x[i], add); });
}

/// Rounds rows to T in place; a block has a row. After the barrier no thread reads what is
/// overwritten: the results take half of the place of the inputs.
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

/// Logits and their gradient; rows are `stride` elements apart, of the gradient `slope_stride`. What lies
/// between them gets the slope 0. Where a gradient takes the place of its logits, it may be narrower: then
/// it lies in the first part of the row.
template <class X, class Y>
struct Logits {
  const X* data;
  Y* gradient;
  std::int32_t vocabulary, stride;
  std::int64_t slope_stride;
};

template <class S>
inline constexpr S none = -std::numeric_limits<S>::infinity();

/// The softmax of a row: its largest logit, and the sum of exponentials relative to that.
template <class S>
struct Denominator {
  S most, sum = 0;

  /// -∞ adds nothing.
  template <int N>
  __device__ void add(const S (&x)[N]) {
    S largest = most;
    SINTER_UNROLL
    for (int k = 0; k < N; ++k) largest = larger(largest, x[k]);
    if (largest > most) {
      sum *= exp(most - largest);
      most = largest;
    }
    const S base = most == none<S> ? S(0) : most;
    SINTER_UNROLL
    for (int k = 0; k < N; ++k) sum += exp(x[k] - base);
  }
  /// Combines the values of all threads of a block.
  __device__ void reduce(S* room) {
    const S mine = most;
    most = block_max(mine, room);
    sum = block_sum(sum * exp(mine - most), room);
  }
};

/// A block has a row, in packs of N logits. It reads them twice; or, if it keeps them, once, and then from
/// shared memory.
template <int N, bool Keeps, class X, class Y, class S = Wide<X>>
__global__ void __launch_bounds__(max_threads)
    cross_entropy_rows(Logits<X, Y> in, bool add, const std::int32_t* targets, S* losses,
                       Argument<double> argument) {
  S* room = shared_memory<S>();
  const int target = targets[blockIdx.x], me = int(threadIdx.x), vocabulary = in.vocabulary;
  const int step = int(blockDim.x) * N;
  const X* x = in.data + std::int64_t(blockIdx.x) * in.stride;
  Y* slopes = in.gradient ? in.gradient + std::int64_t(blockIdx.x) * in.slope_stride : nullptr;
  if (target < 0) {
    if (me == 0) losses[blockIdx.x] = 0;
    if (slopes && !add)
      for (int c = me; c < in.stride; c += int(blockDim.x)) slopes[c] = Y(0.f);
    return;
  }
  X* kept = reinterpret_cast<X*>(room + max_threads / warp);  // a thread reads what it has put
  Denominator<S> softmax{S(x[0])};
  constexpr int packs = 16 / N;  // that are on their way at once
  for (int first = me * N; first < vocabulary; first += packs * step) {
    Pack<X, N> mine[packs] = {};
    SINTER_UNROLL
    for (int p = 0; p < packs; ++p)
      if (first + p * step < vocabulary) mine[p] = load_pack<N>(x + first + p * step);
    S logits[packs * N];
    SINTER_UNROLL
    for (int p = 0; p < packs; ++p) {
      const int c = first + p * step;
      if (Keeps && c < vocabulary) store_pack(kept + c, mine[p]);
      SINTER_UNROLL
      for (int k = 0; k < N; ++k)
        logits[p * N + k] = c + k < vocabulary ? S(mine[p].x[k]) : none<S>;
    }
    softmax.add(logits);
  }
  const S of_target = S(x[target]);
  softmax.reduce(room);
  if (me == 0) losses[blockIdx.x] = log(softmax.sum) - (of_target - softmax.most);
  if (!slopes) return;
  const S weight = S(*argument), factor = weight / softmax.sum;
  for (int first = 0; first < in.stride; first += step) {
    const int c = first + me * N;
    Pack<X, N> mine{};
    if (c < vocabulary) mine = load_pack<N>(Keeps ? kept + c : x + c);
    // After the barrier no thread reads what narrower slopes replace.
    if (!Keeps && sizeof(Y) < sizeof(X)) __syncthreads();
    if (c >= in.stride) continue;
    Pack<Y, N> result{};
    if (add) result = load_pack<N>(slopes + c);
    SINTER_UNROLL
    for (int k = 0; k < N; ++k) {
      // Computed for all elements, so that no thread waits at a branch for others.
      const S share = exp(S(mine.x[k]) - softmax.most) * factor;
      S slope = S(result.x[k]) + (c + k < vocabulary ? share : S(0));
      if (c + k == target) slope -= weight;
      result.x[k] = Y(slope);
    }
    store_pack(slopes + c, result);
  }
}

/// As cross_entropy_rows, of targets of which all classes have a part (LossOptions).
template <class X, class Y, class S = Wide<X>>
__global__ void __launch_bounds__(threads)
    parted_cross_entropy_rows(Logits<X, Y> in, bool add, const std::int32_t* targets, S* losses,
                              Argument<double> argument, double smoothing, const S* weights,
                              double weight_sum) {
  S* room = shared_memory<S>();
  const int target = targets[blockIdx.x], me = int(threadIdx.x), vocabulary = in.vocabulary;
  const X* x = in.data + std::int64_t(blockIdx.x) * in.stride;
  Y* slopes = in.gradient ? in.gradient + std::int64_t(blockIdx.x) * in.slope_stride : nullptr;
  if (target < 0) {
    if (me == 0) losses[blockIdx.x] = 0;
    if (slopes && !add)
      for (int c = me; c < in.stride; c += threads) slopes[c] = Y(0.f);
    return;
  }
  const double each = smoothing / vocabulary;
  const double of_class = (1 - smoothing) * (weights ? double(weights[target]) : 1.);
  const double of_all = of_class + each * (weights ? weight_sum : double(vocabulary));
  Denominator<S> softmax{S(x[0])};
  S others = 0;  // Σ w x
  for (int c = me; c < vocabulary; c += threads) {
    const S logit[1] = {S(x[c])};
    softmax.add(logit);
    others += weights ? weights[c] * logit[0] : logit[0];
  }
  const S of_target = S(x[target]);
  softmax.reduce(room);
  others = block_sum(others, room);
  if (me == 0) {
    const S loss = S(of_all) * log(softmax.sum) - S(of_class) * (of_target - softmax.most);
    const S all = S(weights ? weight_sum : double(vocabulary)) * softmax.most;
    losses[blockIdx.x] = each > 0 ? loss - S(each) * (others - all) : loss;
  }
  if (!slopes) return;
  const S weight = S(*argument), factor = weight * S(of_all) / softmax.sum;
  for (int first = 0; first < in.stride; first += threads) {
    const int c = first + me;
    const S logit = c < vocabulary ? S(x[c]) : S(0);
    // After the barrier no thread reads what narrower slopes replace.
    if (sizeof(Y) < sizeof(X)) __syncthreads();
    if (c >= in.stride) continue;
    S slope = 0;
    if (c < vocabulary) {
      const S part = weights ? S(each) * weights[c] : S(each);
      slope = exp(logit - softmax.most) * factor - weight * part;
      if (c == target) slope -= weight * S(of_class);
    }
    put_element(slopes + c, slope, add);
  }
}

/// Adds 1 to `right` for each row whose largest logit, the first of equals, is that of the target. A block
/// has a row.
template <class X, class S = Wide<X>>
__global__ void __launch_bounds__(threads)
    count_right_rows(const X* logits, std::int32_t vocabulary, std::int32_t stride,
                     const std::int32_t* targets, unsigned long long* right) {
  int* room = shared_memory<int>();
  const int target = targets[blockIdx.x], me = int(threadIdx.x);
  if (target < 0) return;
  const X* x = logits + std::int64_t(blockIdx.x) * stride;
  const S of_target = S(x[target]);
  int above = 0;
  for (int c = me; c < vocabulary; c += threads) {
    const S logit = S(x[c]);
    above += !(logit < of_target || (logit == of_target && c >= target));
  }
  above = block_sum(above, room);
  if (me == 0 && above == 0) atomicAdd(right, 1ull);
}

/// A warp has a row.
template <class T, class S = Wide<T>>
__global__ void squared_errors(const T* x, const T* target, S* losses, T* dx, bool add, int rows,
                               int width, Argument<double> weight) {
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

template <class X, class Y, class S>
void cross_entropy_of(Stream& stream, const Logits<X, Y>& logits, bool add,
                      const std::int32_t* targets, S* losses, double weight, int rows,
                      const LossOptions<S>& options) {
  if (options.right)
    launch(stream, {unsigned(rows), threads, rows_of_block * int(sizeof(int))}, count_right_rows<X>,
           logits.data, logits.vocabulary, logits.stride, targets, options.right);
  if (options.reshapes())
    return launch(stream, {unsigned(rows), threads, rows_of_block * int(sizeof(S))},
                  parted_cross_entropy_rows<X, Y, S>, logits, add, targets, losses,
                  stream.device().argument(weight), options.label_smoothing, options.class_weights,
                  options.weight_sum);
  constexpr int pack = 16 / int(sizeof(X)), sums = max_threads / warp * int(sizeof(S));
  const bool packs = logits.stride % pack == 0 && logits.slope_stride % pack == 0 &&
                     may_be_packs(logits.data, logits.gradient);
  const std::int64_t row = std::int64_t(logits.stride) * sizeof(X);
  const bool keeps = packs && logits.vocabulary >= long_row && sums + row <= max_shared_bytes();
  const auto kernel = keeps   ? cross_entropy_rows<pack, true, X, Y, S>
                      : packs ? cross_entropy_rows<pack, false, X, Y, S>
                              : cross_entropy_rows<1, false, X, Y, S>;
  launch(stream,
         {unsigned(rows), unsigned(keeps ? max_threads : threads), keeps ? sums + int(row) : sums},
         kernel, logits, add, targets, losses, stream.device().argument(weight));
}

/// Both kernels of a head. With a bias the last row of `logits` is not of a chunk: it holds the
/// bias, or its gradient, in the wide type.
template <class T, class S, class G>
void head_in_chunks(Stream& stream, Input<T> x, Input<T> table, Input<T> bias,
                    Input<std::int32_t> targets, Output<S> losses, Tensor<T> dx, Tensor<G> dtable,
                    Tensor<G> dbias, double weight, Tensor<S> logits,
                    const LossOptions<S>& options) {
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
    const bool summed = bool(dbias);  // slopes before they are rounded
    const auto put_slopes = [&](auto* gradient, int ratio) {
      using Slope = std::remove_pointer_t<decltype(gradient)>;
      const Logits<S, Slope> of_chunk{logits.data, gradients ? gradient : nullptr, table.rows,
                                      columns, std::int64_t(ratio) * columns};
      cross_entropy_of(stream, of_chunk, false, targets.data + first, losses.data + first, weight,
                       count, options);
    };
    constexpr int ratio = sizeof(S) / sizeof(T);
    T* const narrow = reinterpret_cast<T*>(logits.data);
    summed ? put_slopes(logits.data, 1) : put_slopes(narrow, ratio);
    if (!gradients) continue;
    if (summed) {
      column_sum(stream, some, wide_bias);
      launch(stream, grid_of_elements(columns), put_elements<S, G>, wide_bias.data, dbias.data,
             dbias.add || first > 0, columns);
      if constexpr (ratio > 1)
        launch(stream, {unsigned(count), threads}, narrow_row<T>, logits.data, columns);
    }
    const Matrix<const T> slopes{narrow, count, columns, std::int64_t(ratio) * columns};
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
                   Tensor<T> dlogits, double weight, const LossOptions<S>& options) {
  const Logits<T, T> all{logits.data, dlogits.data, logits.columns, logits.columns, logits.columns};
  cross_entropy_of(stream, all, dlogits.add, targets.data, losses.data, weight, logits.rows,
                   options);
}

template <class T, class S, class G>
void linear_cross_entropy(Stream& stream, Input<T> x, Input<T> table, Input<std::int32_t> targets,
                          Output<S> losses, Tensor<T> dx, Tensor<G> dtable, double weight,
                          Tensor<S> logits, const LossOptions<S>& options) {
  head_in_chunks<T, S, G>(stream, x, table, {}, targets, losses, dx, dtable, {}, weight, logits,
                          options);
}

template <class T, class S, class G>
void linear_bias_cross_entropy(Stream& stream, Input<T> x, Input<T> table, Input<T> bias,
                               Input<std::int32_t> targets, Output<S> losses, Tensor<T> dx,
                               Tensor<G> dtable, Tensor<G> dbias, double weight, Tensor<S> logits,
                               const LossOptions<S>& options) {
  head_in_chunks(stream, x, table, bias, targets, losses, dx, dtable, dbias, weight, logits,
                 options);
}

template <class T, class S>
void mean_squared_error(Stream& stream, Input<T> x, Input<T> target, Tensor<S> losses, Tensor<T> dx,
                        double weight) {
  launch(stream, {blocks_of(x.rows, rows_of_block), threads}, squared_errors<T, S>, x.data,
         target.data, losses.data, dx.data, bool(dx.add), int(x.rows), int(x.columns),
         stream.device().argument(weight));
}

#define SINTER_INSTANTIATE(T)                                                                     \
  template void cross_entropy(Stream&, Input<T>, Input<std::int32_t>, Tensor<Wide<T>>, Tensor<T>, \
                              double, const LossOptions<Wide<T>>&);                               \
  template void mean_squared_error(Stream&, Input<T>, Input<T>, Tensor<Wide<T>>, Tensor<T>, double);
SINTER_EACH_ELEMENT(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE
#define SINTER_INSTANTIATE(T, G)                                                              \
  template void linear_cross_entropy(Stream&, Input<T>, Input<T>, Input<std::int32_t>,        \
                                     Output<Wide<T>>, Tensor<T>, Tensor<G>, double,           \
                                     Tensor<Wide<T>>, const LossOptions<Wide<T>>&);           \
  template void linear_bias_cross_entropy(                                                    \
      Stream&, Input<T>, Input<T>, Input<T>, Input<std::int32_t>, Output<Wide<T>>, Tensor<T>, \
      Tensor<G>, Tensor<G>, double, Tensor<Wide<T>>, const LossOptions<Wide<T>>&);
SINTER_EACH_GRADIENT(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE

}  // namespace sinter::kernel
