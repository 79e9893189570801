// SPDX-License-Identifier: Apache-2.0
#include "sinter/kernels/pool.hpp"

#include <algorithm>

#include "kernels/elements.hpp"

namespace sinter::kernel {

namespace {

/// Which row of each sequence is taken.
enum class Place { first, last };

std::int64_t row_of(Place place, Sequences sequences, int s) {
  if (place == Place::first) return sequences.starts[s];
  return (sequences.lengths ? sequences.starts[s] + sequences.lengths[s]
                            : sequences.starts[s + 1]) -
         1;
}

template <class T>
void take(Stream& stream, Place place, Input<T> x, Sequences sequences, Tensor<T> y) {
  const int width = y.columns;
  stream.parallel(sequences.count, [=](int s) {
    const T* row = x.data + row_of(place, sequences, s) * width;
    std::copy_n(row, width, y.data + std::int64_t(s) * width);
  });
}

template <class T>
void give_back(Stream& stream, Place place, Input<T> dy, Sequences sequences, Tensor<T> dx) {
  const int width = dx.columns;
  stream.parallel(sequences.count, [=](int s) {
    T* first = dx.data + std::int64_t(sequences.starts[s]) * width;
    T* end = dx.data + std::int64_t(sequences.starts[s + 1]) * width;
    T* taken = dx.data + row_of(place, sequences, s) * width;
    const T* from = dy.data + std::int64_t(s) * width;
    if (!dx.add) std::fill(first, end, T(0));
    for (int i = 0; i < width; ++i) taken[i] = T(taken[i] + from[i]);
  });
}

}  // namespace

template <class T>
void last_rows(Stream& stream, Input<T> x, Sequences sequences, Tensor<T> y) {
  take<T>(stream, Place::last, x, sequences, y);
}

template <class T>
void last_rows_backward(Stream& stream, Input<T> dy, Sequences sequences, Tensor<T> dx) {
  give_back<T>(stream, Place::last, dy, sequences, dx);
}

template <class T>
void first_rows(Stream& stream, Input<T> x, Sequences sequences, Tensor<T> y) {
  take<T>(stream, Place::first, x, sequences, y);
}

template <class T>
void first_rows_backward(Stream& stream, Input<T> dy, Sequences sequences, Tensor<T> dx) {
  give_back<T>(stream, Place::first, dy, sequences, dx);
}

#define SINTER_INSTANTIATE(T)                                                \
  template void last_rows(Stream&, Input<T>, Sequences, Tensor<T>);          \
  template void last_rows_backward(Stream&, Input<T>, Sequences, Tensor<T>); \
  template void first_rows(Stream&, Input<T>, Sequences, Tensor<T>);         \
  template void first_rows_backward(Stream&, Input<T>, Sequences, Tensor<T>);
SINTER_EACH_ELEMENT(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE

}  // namespace sinter::kernel
