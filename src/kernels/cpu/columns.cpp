// SPDX-License-Identifier: Apache-2.0
#include "sinter/kernels/columns.hpp"

#include "hardware/cpu/split.hpp"
#include "kernels/cpu/ranges.hpp"

namespace sinter::kernel {

template <class T>
void put_columns(Stream& stream, Input<T> x, Tensor<T> y, int first) {
  split_rows(stream, x.rows, x.columns, [=](int begin, int end) {
    for (std::int64_t r = begin; r < end; ++r)
      std::copy_n(x.data + r * x.columns, x.columns, y.data + r * y.columns + first);
  });
}

template <class T>
void take_columns(Stream& stream, Input<T> x, int first, Tensor<T> y) {
  split_rows(stream, y.rows, y.columns, [=](int begin, int end) {
    for (std::int64_t r = begin; r < end; ++r) {
      const T* from = x.data + r * x.columns + first;
      T* to = y.data + r * y.columns;
      if (y.add) {
        add_range(to, from, to, y.columns);
      } else {
        std::copy_n(from, y.columns, to);
      }
    }
  });
}

#define SINTER_INSTANTIATE(T)                                   \
  template void put_columns(Stream&, Input<T>, Tensor<T>, int); \
  template void take_columns(Stream&, Input<T>, int, Tensor<T>);
SINTER_EACH_ELEMENT(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE

}  // namespace sinter::kernel
