// SPDX-License-Identifier: Apache-2.0
#include "sinter/kernels/dropout.hpp"

#include "kernels/cuda/each_element.hpp"
#include "kernels/cuda/each_row.hpp"
#include "kernels/cuda/mask.hpp"
#include "kernels/elements.hpp"
#include "sinter/kernels/elementwise.hpp"

namespace sinter::kernel {
namespace {

template <class T>
__global__ void mask_rows(const T* x, Argument<Mask<Wide<T>>> argument, T* y, int rows, int width,
                          bool add) {
  const int row = row_of_warp();
  if (row >= rows) return;
  const Mask<Wide<T>> mask = *argument;
  const std::uint64_t key = row_key(mask.dropout, row);
  const std::int64_t at = std::int64_t(row) * width;
  for_each_column(
      width, [=](int c) { put_element(y + at + c, mask.apply(Wide<T>(x[at + c]), key, c), add); });
}

}  // namespace

template <class T>
void dropout(Stream& stream, Input<T> x, Tensor<T> y, Dropout dropout) {
  if (dropout.probability == 0) return put(stream, x, y);
  launch(stream, grid_of_rows(y.rows, y.columns), mask_rows<T>, x.data,
         stream.device().argument(Mask<Wide<T>>(dropout)), y.data, int(y.rows), int(y.columns),
         bool(y.add));
}

#define SINTER_INSTANTIATE(T) template void dropout(Stream&, Input<T>, Tensor<T>, Dropout);
SINTER_EACH_ELEMENT(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE

}  // namespace sinter::kernel
