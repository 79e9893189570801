// SPDX-License-Identifier: Apache-2.0
#include "sinter/kernels/swiglu.hpp"

#include "kernels/cuda/each_element.hpp"
#include "kernels/cuda/each_row.hpp"
#include "kernels/cuda/logistic.hpp"
#include "kernels/elements.hpp"

namespace sinter::kernel {
namespace {

/// A gradient's rows; no data if it is not wanted.
template <class T>
struct Gradient {
  T* data;
  std::int64_t add;
};

/// `stride`: from a row of gate, and of up, to the next.
template <class T>
__global__ void forward_rows(const T* gate, const T* up, std::int64_t stride, T* y, int rows,
                             int width) {
  const int row = row_of_warp();
  if (row >= rows) return;
  const std::int64_t at = row * stride, to = std::int64_t(row) * width;
  for_each_column(width, [=](int c) {
    y[to + c] = T(Silu<Wide<T>>(Wide<T>(gate[at + c])).value * Wide<T>(up[at + c]));
  });
}

/// `stride` as there, also of gradients.
template <class T>
__global__ void backward_rows(const T* gate, const T* up, std::int64_t stride, const T* dy,
                              Gradient<T> dgate, Gradient<T> dup, int rows, int width) {
  const int row = row_of_warp();
  if (row >= rows) return;
  const std::int64_t at = row * stride, from = std::int64_t(row) * width;
  for_each_column(width, [=](int c) {
    const Silu<Wide<T>> silu{Wide<T>(gate[at + c])};
    const Wide<T> above = Wide<T>(dy[from + c]);
    const Wide<T> for_gate = above * Wide<T>(up[at + c]) * silu.slope;
    if (dgate.data) put_element(dgate.data + at + c, for_gate, dgate.add);
    if (dup.data) put_element(dup.data + at + c, above * silu.value, dup.add);
  });
}

template <class T>
void forward(Stream& stream, const T* gate, const T* up, std::int64_t stride, Tensor<T> y) {
  launch(stream, grid_of_rows(y.rows, y.columns), forward_rows<T>, gate, up, stride, y.data,
         int(y.rows), int(y.columns));
}

template <class T>
void backward(Stream& stream, const T* gate, const T* up, std::int64_t stride, Tensor<const T> dy,
              Gradient<T> dgate, Gradient<T> dup) {
  launch(stream, grid_of_rows(dy.rows, dy.columns), backward_rows<T>, gate, up, stride, dy.data,
         dgate, dup, int(dy.rows), int(dy.columns));
}

}  // namespace

template <class T>
void swiglu_forward(Stream& stream, Input<T> x, Tensor<T> y) {
  forward(stream, x.data, x.data + y.columns, x.columns, y);
}

template <class T>
void swiglu_backward(Stream& stream, Input<T> x, Input<T> dy, Tensor<T> dx) {
  backward<T>(stream, x.data, x.data + dy.columns, x.columns, dy, {dx.data, dx.add},
              {dx.data + dy.columns, dx.add});
}

template <class T>
void swiglu_forward(Stream& stream, Input<T> gate, Input<T> up, Tensor<T> y) {
  forward(stream, gate.data, up.data, y.columns, y);
}

template <class T>
void swiglu_backward(Stream& stream, Input<T> gate, Input<T> up, Input<T> dy, Tensor<T> dgate,
                     Tensor<T> dup) {
  backward<T>(stream, gate.data, up.data, dy.columns, dy, {dgate.data, dgate.add},
              {dup.data, dup.add});
}

#define SINTER_INSTANTIATE(T)                                            \
  template void swiglu_forward(Stream&, Input<T>, Tensor<T>);            \
  template void swiglu_backward(Stream&, Input<T>, Input<T>, Tensor<T>); \
  template void swiglu_forward(Stream&, Input<T>, Input<T>, Tensor<T>);  \
  template void swiglu_backward(Stream&, Input<T>, Input<T>, Input<T>, Tensor<T>, Tensor<T>);
SINTER_EACH_ELEMENT(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE

}  // namespace sinter::kernel
