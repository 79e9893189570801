// SPDX-License-Identifier: Apache-2.0
#include "sinter/kernels/swiglu.hpp"

#include "hardware/cpu/split.hpp"
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
/// A gradient's elements; no data if it is not wanted.
template <class T>
struct Slope {
  T* data;
  bool add;
};
/// What each instruction set provides, on n elements in a row.
template <class T>
struct SwigluTable {
  void (*forward)(const T* gate, const T* up, T* y, std::int64_t n);
  void (*backward)(const T* gate, const T* up, const T* dy, Slope<T> dgate, Slope<T> dup,
                   std::int64_t n);
};
}  // namespace
}  // namespace sinter::kernel
#endif

HWY_BEFORE_NAMESPACE();
namespace sinter::kernel {
namespace {
namespace HWY_NAMESPACE {

template <class T>
void forward(const T* gate, const T* up, T* y, std::int64_t n) {
  for_each<T>(n, [=](auto d, std::int64_t i) HWY_ATTR {
    store(hn::Mul(Silu::value(d, load(d, gate + i)), load(d, up + i)), d, y + i);
  });
}

template <class T>
void backward(const T* gate, const T* up, const T* dy, Slope<T> dgate, Slope<T> dup,
              std::int64_t n) {
  for_each<T>(n, [=](auto d, std::int64_t i) HWY_ATTR {
    hn::Vec<decltype(d)> value;
    const auto slope = Silu::slope(d, load(d, gate + i), &value);
    const auto above = load(d, dy + i);
    const auto for_gate = hn::Mul(hn::Mul(above, load(d, up + i)), slope);
    if (dgate.data) put(d, for_gate, dgate.data + i, dgate.add);
    if (dup.data) put(d, hn::Mul(above, value), dup.data + i, dup.add);
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
      const Slope<T> dgate{dx.data + r * 2 * width, dx.add};
      const Slope<T> dup{dgate.data + width, dx.add};
      kernel(gate, gate + width, dy.data + r * width, dgate, dup, width);
    }
  });
}

template <class T>
void swiglu_forward(Stream& stream, Input<T> gate, Input<T> up, Tensor<T> y) {
  auto kernel = table<T>().forward;
  split_elements(stream, y.size(), [&](std::int64_t begin, std::int64_t end) {
    kernel(gate.data + begin, up.data + begin, y.data + begin, end - begin);
  });
}

template <class T>
void swiglu_backward(Stream& stream, Input<T> gate, Input<T> up, Input<T> dy, Tensor<T> dgate,
                     Tensor<T> dup) {
  auto kernel = table<T>().backward;
  split_elements(stream, dy.size(), [&](std::int64_t begin, std::int64_t end) {
    auto from = [=](const Tensor<T>& dx) {
      return Slope<T>{dx ? dx.data + begin : nullptr, dx.add};
    };
    kernel(gate.data + begin, up.data + begin, dy.data + begin, from(dgate), from(dup),
           end - begin);
  });
}

#define SINTER_INSTANTIATE(T)                                            \
  template void swiglu_forward(Stream&, Input<T>, Tensor<T>);            \
  template void swiglu_backward(Stream&, Input<T>, Input<T>, Tensor<T>); \
  template void swiglu_forward(Stream&, Input<T>, Input<T>, Tensor<T>);  \
  template void swiglu_backward(Stream&, Input<T>, Input<T>, Input<T>, Tensor<T>, Tensor<T>);
SINTER_EACH_ELEMENT(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE

}  // namespace sinter::kernel
#endif  // HWY_ONCE
