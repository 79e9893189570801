// SPDX-License-Identifier: Apache-2.0
#include "sinter/kernels/normalize.hpp"

#include <algorithm>

#include "device/cuda/sums.hpp"
#include "kernels/cuda/each_element.hpp"
#include "kernels/elements.hpp"

namespace sinter::kernel {
namespace {

constexpr int threads = 256, rows_of_block = threads / warp;
constexpr int most_row_blocks = 32, least_row_block = 16;
static_assert(normalize_scratch(1, 1) == most_row_blocks);

/// Where rows are not centred, the mean is zero.
template <bool Centred, class S, class T>
__device__ __forceinline__ S centred(T x, S mean) {
  return Centred ? S(x) - mean : S(x);
}

/// A warp has a row. b, if any: the second summand of h.
template <bool Centred, class T, class S>
__global__ void forward_rows(const T* a, const T* b, const T* weight, const T* bias, T* h, T* y,
                             S* means, S* inverses, int rows, int width, S eps) {
  const int row = int(blockIdx.x) * rows_of_block + int(threadIdx.x) / warp;
  const int lane = int(threadIdx.x) % warp;
  if (row >= rows) return;
  const std::int64_t at = std::int64_t(row) * width;
  const T* x = a + at;
  if (b) {
    for (int c = lane; c < width; c += warp) h[at + c] = T(S(x[c]) + S(b[at + c]));
    x = h + at;  // each lane reads what it wrote
  }
  S mean = 0;
  if (Centred) {
    S sum = 0;
    for (int c = lane; c < width; c += warp) sum += S(x[c]);
    mean = warp_sum(sum) / S(width);
  }
  S squares = 0;
  for (int c = lane; c < width; c += warp) {
    const S v = centred<Centred>(x[c], mean);
    squares += v * v;
  }
  const S inverse = S(1) / sqrt(warp_sum(squares) / S(width) + eps);
  for (int c = lane; c < width; c += warp) {
    const S normal = centred<Centred>(x[c], mean) * inverse * S(weight[c]);
    y[at + c] = T(Centred ? normal + S(bias[c]) : normal);
  }
  if (lane > 0) return;
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

/// With n = (x - mean) inverse and e = dy weight: dx = inverse (e - mean(e) - n mean(e n)); without
/// mean(e) where rows are not centred. A warp has a row.
template <bool Centred, class T, class S>
__global__ void backward_rows(Rows<T, S> in, Gradients<T> out) {
  const int row = int(blockIdx.x) * rows_of_block + int(threadIdx.x) / warp;
  const int lane = int(threadIdx.x) % warp, width = in.width;
  if (row >= in.rows) return;
  const std::int64_t at = std::int64_t(row) * width;
  const S mean = Centred ? in.means[row] : S(0), inverse = in.inverses[row];
  S sum_e = 0, sum_en = 0;
  for (int c = lane; c < width; c += warp) {
    const S e = S(in.dy[at + c]) * S(in.weight[c]);
    sum_e += e;
    sum_en += e * centred<Centred>(in.x[at + c], mean) * inverse;
  }
  const S mean_e = Centred ? warp_sum(sum_e) / S(width) : S(0);
  const S mean_en = warp_sum(sum_en) / S(width);
  for (int c = lane; c < width; c += warp) {
    const S n = centred<Centred>(in.x[at + c], mean) * inverse;
    const S e = S(in.dy[at + c]) * S(in.weight[c]);
    S dx = inverse * (e - mean_e - n * mean_en);
    if (out.dh_in) dx += S(out.dh_in[at + c]);
    if (out.dx) put_element(out.dx + at + c, dx, out.add_dx);
    if (out.dx2) put_element(out.dx2 + at + c, dx, out.add_dx2);
  }
}

/// Sums of blocks of rows: of each, those of the weight and then, where rows are centred, those of
/// the bias. A thread has a column of a block.
template <bool Centred, class T, class S>
__global__ void sum_row_blocks(Rows<T, S> in, int block, S* partial) {
  const int column = int(blockIdx.x * blockDim.x + threadIdx.x), width = in.width;
  if (column >= width) return;
  const int first = int(blockIdx.y) * block,
            end = first + block < in.rows ? first + block : in.rows;
  S dweight = 0, dbias = 0;
  for (int r = first; r < end; ++r) {
    const std::int64_t at = std::int64_t(r) * width + column;
    const S dy = S(in.dy[at]), mean = Centred ? in.means[r] : S(0);
    dweight += dy * (centred<Centred>(in.x[at], mean) * in.inverses[r]);
    dbias += dy;
  }
  S* mine = partial + std::int64_t(blockIdx.y) * (Centred ? 2 : 1) * width + column;
  mine[0] = dweight;
  if (Centred) mine[width] = dbias;
}

/// The blocks' sums, in order: n of each, which lie `stride` apart.
template <class S, class G>
__global__ void sum_blocks(const S* partial, int blocks, int stride, G* total, int n, bool add) {
  const int column = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (column >= n) return;
  S sum = add ? S(total[column]) : S(0);
  for (int b = 0; b < blocks; ++b) sum += partial[std::int64_t(b) * stride + column];
  total[column] = G(sum);
}

template <bool Centred, class T, class S, class G>
void backward(Stream& stream, const Rows<T, S>& in, const Gradients<T>& out, Tensor<G> dweight,
              Tensor<G> dbias, S* scratch) {
  const int width = in.width, sums = Centred ? 2 * width : width;
  if (dweight) {  // before dx, which may take the place of dy
    const int block = std::max(int(blocks_of(in.rows, most_row_blocks)), least_row_block);
    const int blocks = int(blocks_of(in.rows, block));
    const unsigned across = blocks_of(width, threads);
    if (blocks > 0)
      launch(stream, {{across, unsigned(blocks)}, threads}, sum_row_blocks<Centred, T, S>, in,
             block, scratch);
    launch(stream, {across, threads}, sum_blocks<S, G>, scratch, blocks, sums, dweight.data, width,
           bool(dweight.add));
    if (dbias)
      launch(stream, {across, threads}, sum_blocks<S, G>, scratch + width, blocks, sums, dbias.data,
             width, bool(dbias.add));
  }
  if (out.dx || out.dx2)
    launch(stream, {blocks_of(in.rows, rows_of_block), threads}, backward_rows<Centred, T, S>, in,
           out);
}

template <class T, class S>
void forward(Stream& stream, const T* a, const T* b, const T* weight, const T* bias, T* h,
             Tensor<T> y, S* means, S* inverses, S eps) {
  const auto kernel = means ? forward_rows<true, T, S> : forward_rows<false, T, S>;
  launch(stream, {blocks_of(y.rows, rows_of_block), threads}, kernel, a, b, weight, bias, h, y.data,
         means, inverses, int(y.rows), int(y.columns), eps);
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
                        Tensor<G> dweight, Output<G> dbias, S* scratch) {
  const Rows<T, S> in{x.data, weight.data, dy.data, mean.data, inverse.data, x.rows, x.columns};
  const Gradients<T> out{dh_in.data, dx.data, dx2.data, dx.add, dx2.add};
  if (mean) return backward<true>(stream, in, out, dweight, dbias, scratch);
  backward<false>(stream, in, out, dweight, dbias, scratch);
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
                                   Wide<T>*);
SINTER_EACH_GRADIENT(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE

}  // namespace sinter::kernel
