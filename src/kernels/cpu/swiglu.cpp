// SPDX-License-Identifier: Apache-2.0
#include "sinter/kernels/swiglu.hpp"

#include "kernels/cpu/split.hpp"
#include "kernels/cpu/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/swiglu.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/silu-inl.hpp"
#include "kernels/cpu/simd-inl.hpp"

#ifndef SINTER_SWIGLU_TABLE
#define SINTER_SWIGLU_TABLE
namespace sinter::kernel {
namespace {
/// What each instruction set provides, on one row.
template <class T>
struct SwigluTable {
  void (*forward)(const T* gate, const T* up, T* y, int width);
  void (*backward)(const T* gate, const T* up, const T* dy, T* dgate, T* dup, int width, bool add);
};
}  // namespace
}  // namespace sinter::kernel
#endif

HWY_BEFORE_NAMESPACE();
namespace sinter::kernel {
namespace {
namespace HWY_NAMESPACE {

template <class T>
void forward(const T* gate, const T* up, T* y, int width) {
  for_each<T>(width, [=](auto d, std::int64_t i) HWY_ATTR {
    store(hn::Mul(Silu::value(d, load(d, gate + i)), load(d, up + i)), d, y + i);
  });
}

template <class T>
void backward(const T* gate, const T* up, const T* dy, T* dgate, T* dup, int width, bool add) {
  for_each<T>(width, [=](auto d, std::int64_t i) HWY_ATTR {
    hn::Vec<decltype(d)> value;
    const auto slope = Silu::slope(d, load(d, gate + i), &value);
    const auto above = load(d, dy + i);
    put(d, hn::Mul(hn::Mul(above, load(d, up + i)), slope), dgate + i, add);
    put(d, hn::Mul(above, value), dup + i, add);
  });
}

template <class T>
SwigluTable<T> make_table() {
  return {forward<T>, backward<T>};
}
SINTER_TABLES(SwigluTable)

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace sinter::kernel
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sinter::kernel {
namespace {
SINTER_DISPATCH(SwigluTable)
}  // namespace

template <class T>
void swiglu_forward(Stream& stream, Input<T> x, Tensor<T> y) {
  auto kernel = table<T>().forward;
  const int width = y.columns;
  split_rows(stream, y.rows, 4 * width, [&](int begin, int end) {
    for (std::int64_t r = begin; r < end; ++r) {
      const T* gate = x.data + r * 2 * width;
      kernel(gate, gate + width, y.data + r * width, width);
    }
  });
}

template <class T>
void swiglu_backward(Stream& stream, Input<T> x, Input<T> dy, Tensor<T> dx) {
  auto kernel = table<T>().backward;
  const int width = dy.columns;
  split_rows(stream, dy.rows, 4 * width, [&](int begin, int end) {
    for (std::int64_t r = begin; r < end; ++r) {
      const T* gate = x.data + r * 2 * width;
      T* dgate = dx.data + r * 2 * width;
      kernel(gate, gate + width, dy.data + r * width, dgate, dgate + width, width, dx.add);
    }
  });
}

#define SINTER_INSTANTIATE(T)                                 \
  template void swiglu_forward(Stream&, Input<T>, Tensor<T>); \
  template void swiglu_backward(Stream&, Input<T>, Input<T>, Tensor<T>);
SINTER_EACH_ELEMENT(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE

}  // namespace sinter::kernel
#endif  // HWY_ONCE
