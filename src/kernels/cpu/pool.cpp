// SPDX-License-Identifier: Apache-2.0
#include "sinter/kernels/pool.hpp"

#include <algorithm>

#include "kernels/cpu/elements.hpp"

namespace sinter::kernel {

template <class T>
void last_rows(Stream& stream, Input<T> x, Sequences sequences, Tensor<T> y) {
  const int width = y.columns;
  stream.parallel(sequences.count, [=](int s) {
    const T* row = x.data + std::int64_t(sequences.starts[s + 1] - 1) * width;
    std::copy_n(row, width, y.data + std::int64_t(s) * width);
  });
}

template <class T>
void last_rows_backward(Stream& stream, Input<T> dy, Sequences sequences, Tensor<T> dx) {
  const int width = dx.columns;
  stream.parallel(sequences.count, [=](int s) {
    T* first = dx.data + std::int64_t(sequences.starts[s]) * width;
    T* last = dx.data + std::int64_t(sequences.starts[s + 1] - 1) * width;
    const T* from = dy.data + std::int64_t(s) * width;
    if (!dx.add) std::fill(first, last + width, T(0));
    for (int i = 0; i < width; ++i) last[i] = T(last[i] + from[i]);
  });
}

#define SINTER_INSTANTIATE(T)                                       \
  template void last_rows(Stream&, Input<T>, Sequences, Tensor<T>); \
  template void last_rows_backward(Stream&, Input<T>, Sequences, Tensor<T>);
SINTER_EACH_ELEMENT(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE

}  // namespace sinter::kernel
