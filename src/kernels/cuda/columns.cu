// SPDX-License-Identifier: Apache-2.0
#include "sinter/kernels/columns.hpp"

#include "kernels/cuda/each_element.hpp"
#include "kernels/elements.hpp"

namespace sinter::kernel {
namespace {

/// Rows of `width` elements, which begin `distance` elements apart.
template <class T>
struct Rows {
  T* data;
  std::int32_t width, distance;

  __device__ T& operator[](std::int64_t i) const {
    const std::int64_t row = i / width;
    return data[row * distance + (i - row * width)];
  }
};

template <class T>
__global__ void copy_rows(Rows<const T> from, Rows<T> to, bool add, std::int64_t n) {
  for_each_element(n, [=](std::int64_t i) {
    const T x = from[i];
    to[i] = add ? T(Wide<T>(to[i]) + Wide<T>(x)) : x;
  });
}

}  // namespace

template <class T>
void put_columns(Stream& stream, Input<T> x, Tensor<T> y, int first) {
  launch(stream, grid_of_elements(x.size()), copy_rows<T>,
         Rows<const T>{x.data, x.columns, x.columns}, Rows<T>{y.data + first, x.columns, y.columns},
         false, x.size());
}

template <class T>
void take_columns(Stream& stream, Input<T> x, int first, Tensor<T> y) {
  launch(stream, grid_of_elements(y.size()), copy_rows<T>,
         Rows<const T>{x.data + first, y.columns, x.columns}, Rows<T>{y.data, y.columns, y.columns},
         bool(y.add), y.size());
}

#define SINTER_INSTANTIATE(T)                                   \
  template void put_columns(Stream&, Input<T>, Tensor<T>, int); \
  template void take_columns(Stream&, Input<T>, int, Tensor<T>);
SINTER_EACH_ELEMENT(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE

}  // namespace sinter::kernel
