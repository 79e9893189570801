// SPDX-License-Identifier: Apache-2.0
#include "sinter/kernels/pool.hpp"

#include "kernels/cuda/each_element.hpp"
#include "kernels/cuda/sequences.hpp"
#include "kernels/elements.hpp"

namespace sinter::kernel {
namespace {

/// Which row of each sequence is taken.
enum class Place { first, last };

template <Place place>
__device__ std::int64_t row_of(const Sequences& sequences, std::int64_t s) {
  const std::int32_t first = sequences.starts[s];
  return place == Place::first ? first : first + own_rows_of(sequences, int(s)) - 1;
}

template <Place place, class T>
__global__ void take_rows(const T* x, Sequences sequences, T* y, int width, std::int64_t n) {
  for_each_element(n, [=](std::int64_t i) {
    const std::int64_t s = i / width;
    y[i] = x[row_of<place>(sequences, s) * width + (i - s * width)];
  });
}

template <Place place, class T>
__global__ void give_rows_back(const T* dy, Sequences sequences, T* dx, int width, bool add,
                               std::int64_t n) {
  for_each_element(n, [=](std::int64_t i) {
    const std::int64_t row = i / width;
    const std::int64_t s = sequence_of(sequences.starts, sequences.count, int(row));
    const bool taken = row == row_of<place>(sequences, s);
    if (add && !taken) return;
    const Wide<T> given = taken ? Wide<T>(dy[s * width + (i - row * width)]) : Wide<T>(0);
    dx[i] = T((add ? Wide<T>(dx[i]) : Wide<T>(0)) + given);
  });
}

template <Place place, class T>
void take(Stream& stream, Input<T> x, Sequences sequences, Tensor<T> y) {
  const std::int64_t n = std::int64_t(sequences.count) * y.columns;
  launch(stream, grid_of_elements(n), take_rows<place, T>, x.data, sequences, y.data,
         int(y.columns), n);
}

template <Place place, class T>
void give_back(Stream& stream, Input<T> dy, Sequences sequences, Tensor<T> dx) {
  const std::int64_t n = std::int64_t(sequences.rows()) * dx.columns;
  launch(stream, grid_of_elements(n), give_rows_back<place, T>, dy.data, sequences, dx.data,
         int(dx.columns), bool(dx.add), n);
}

}  // namespace

template <class T>
void last_rows(Stream& stream, Input<T> x, Sequences sequences, Tensor<T> y) {
  take<Place::last, T>(stream, x, sequences, y);
}

template <class T>
void last_rows_backward(Stream& stream, Input<T> dy, Sequences sequences, Tensor<T> dx) {
  give_back<Place::last, T>(stream, dy, sequences, dx);
}

template <class T>
void first_rows(Stream& stream, Input<T> x, Sequences sequences, Tensor<T> y) {
  take<Place::first, T>(stream, x, sequences, y);
}

template <class T>
void first_rows_backward(Stream& stream, Input<T> dy, Sequences sequences, Tensor<T> dx) {
  give_back<Place::first, T>(stream, dy, sequences, dx);
}

#define SINTER_INSTANTIATE(T)                                                \
  template void last_rows(Stream&, Input<T>, Sequences, Tensor<T>);          \
  template void last_rows_backward(Stream&, Input<T>, Sequences, Tensor<T>); \
  template void first_rows(Stream&, Input<T>, Sequences, Tensor<T>);         \
  template void first_rows_backward(Stream&, Input<T>, Sequences, Tensor<T>);
SINTER_EACH_ELEMENT(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE

}  // namespace sinter::kernel
