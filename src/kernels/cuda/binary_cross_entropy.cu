// SPDX-License-Identifier: Apache-2.0
#include "sinter/kernels/binary_cross_entropy.hpp"

#include "hardware/cuda/sums.hpp"
#include "kernels/cuda/each_element.hpp"
#include "kernels/elements.hpp"

namespace sinter::kernel {
namespace {

constexpr int threads = 256, rows_of_block = threads / warp;

/// A warp has a row.
template <class T, class S = Wide<T>>
__global__ void binary_losses(const T* x, const T* target, S* losses, Tensor<T> dx,
                              Tensor<T> dtarget, int rows, int width, Argument<double> weight) {
  const int row = int(blockIdx.x) * rows_of_block + int(threadIdx.x) / warp;
  const int lane = int(threadIdx.x) % warp;
  if (row >= rows) return;
  const S factor = S(*weight);
  S sum = 0;
  for (int c = lane; c < width; c += warp) {
    const std::int64_t i = std::int64_t(row) * width + c;
    const S logit = S(x[i]), wanted = S(target[i]);
    const S e = exp(-fabs(logit));
    sum += (logit < 0 ? S(0) : logit) - logit * wanted + log1p(e);
    const S p = (logit < 0 ? e : S(1)) / (1 + e);
    if (dtarget.data) put_element(dtarget.data + i, -factor * logit, dtarget.add);
    if (dx.data) put_element(dx.data + i, factor * (p - wanted), dx.add);
  }
  sum = warp_sum(sum);
  if (lane == 0) losses[row] = sum;
}

}  // namespace

template <class T, class S>
void binary_cross_entropy(Stream& stream, Input<T> x, Input<T> target, Tensor<S> losses,
                          Tensor<T> dx, Tensor<T> dtarget, double weight) {
  launch(stream, {blocks_of(x.rows, rows_of_block), threads}, binary_losses<T, S>, x.data,
         target.data, losses.data, dx, dtarget, int(x.rows), int(x.columns),
         stream.device().argument(weight));
}

#define SINTER_INSTANTIATE(T)                                                                 \
  template void binary_cross_entropy(Stream&, Input<T>, Input<T>, Tensor<Wide<T>>, Tensor<T>, \
                                     Tensor<T>, double);
SINTER_EACH_ELEMENT(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE

}  // namespace sinter::kernel
