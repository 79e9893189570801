// SPDX-License-Identifier: Apache-2.0
// A kernel to copy. docs/add_a_kernel.md explains it. A kernel inside Sinter is two files and a
// test: part 1 is include/sinter/kernels/NAME.hpp, part 2 src/kernels/cpu/NAME.cpp, and part 3
// tests/unit/kernels/NAME.cpp. This file compiles, runs and checks itself.

// ---- 1. The header: contracts, no device. (This file includes itself, so it has a guard instead
// of a header's `#pragma once`.)
#ifndef SINTER_SKELETON_HEADER
#define SINTER_SKELETON_HEADER
#include "sinter/base/bfloat16.hpp"
#include "sinter/base/float16.hpp"
#include "sinter/hardware/stream.hpp"
#include "sinter/kernels/tensor.hpp"

namespace sinter::kernel {

/// y = max(x, 0)² (So et al. 2021).   x, y: of one shape; y may be x. T: float, double, BFloat16 or
/// Float16. Each result is exact, rounded once to Wide<T> and once to T: bit-identical for any
/// number of threads.
template <class T>
void squared_relu_forward(Stream& stream, Input<T> x, Tensor<T> y);

/// dx = 2 max(x, 0) dy; with dx's add flag dx += …, which adds one ε of the sum.   dx may be dy.
template <class T>
void squared_relu_backward(Stream& stream, Input<T> x, Input<T> dy, Tensor<T> dx);

}  // namespace sinter::kernel
#endif

// ---- 2. The code for CPUs. First the code that is common to all instruction sets: how work is
// split over threads, and which instruction sets exist (targets.hpp before any header of Highway).
#include "hardware/cpu/split.hpp"
#include "kernels/cpu/targets.hpp"

// Highway's mechanism: foreach_target.h includes the file that HWY_TARGET_INCLUDE names (this one)
// once per instruction set (SSE4, AVX2, AVX-512 …). HWY_NAMESPACE differs each time, and the code
// between BEFORE and AFTER below is compiled for each.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "skeletons/kernel.cpp"
#include <hwy/foreach_target.h>

// Headers of vector code are named *-inl.hpp. They come after foreach_target.h, as they are
// compiled for each instruction set, too. This one has load, store, put, for_each, exp, …
#include "kernels/cpu/simd-inl.hpp"

// The table of functions that each instruction set provides. Its type is the same for all, so it is
// declared once.
#ifndef SINTER_SKELETON_TABLE
#define SINTER_SKELETON_TABLE
namespace sinter::kernel {
namespace {
template <class T>
struct SquaredReluTable {
  void (*forward)(const T* x, T* y, std::int64_t n);
  void (*backward)(const T* x, const T* dy, T* dx, std::int64_t n, bool add);
};
}  // namespace
}  // namespace sinter::kernel
#endif

HWY_BEFORE_NAMESPACE();
namespace sinter::kernel {
namespace {
namespace HWY_NAMESPACE {

// Single-threaded, on one range. for_each calls its body with a tag d for whole vectors, then for
// single elements. load() widens half precision, store() and put() round to it: arithmetic between
// them is in Wide<T>. A lambda with vector code has the attribute HWY_ATTR.
template <class T>
void forward(const T* x, T* y, std::int64_t n) {
  for_each<T>(n, [=](auto d, std::int64_t i) HWY_ATTR {
    const auto above = hn::Max(load(d, x + i), hn::Zero(d));
    store(hn::Mul(above, above), d, y + i);
  });
}

template <class T>
void backward(const T* x, const T* dy, T* dx, std::int64_t n, bool add) {
  for_each<T>(n, [=](auto d, std::int64_t i) HWY_ATTR {
    const auto above = hn::Max(load(d, x + i), hn::Zero(d));
    put(d, hn::Mul(hn::Add(above, above), load(d, dy + i)), dx + i, add);
  });
}

// The table of this instruction set, for all element types.
template <class T>
SquaredReluTable<T> make_table() {
  return {forward<T>, backward<T>};
}
SINTER_TABLES(SquaredReluTable)

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace sinter::kernel
HWY_AFTER_NAMESPACE();

// Code that is compiled once: the functions that the header declares. table<T>() is the table of
// the processor's best instruction set.
#if HWY_ONCE
namespace sinter::kernel {
namespace {
SINTER_DISPATCH(SquaredReluTable)
}  // namespace

template <class T>
void squared_relu_forward(Stream& stream, Input<T> x, Tensor<T> y) {
  const auto kernel = table<T>().forward;
  split_elements(stream, y.size(), [&](auto begin, auto end) {
    kernel(x.data + begin, y.data + begin, end - begin);
  });
}

template <class T>
void squared_relu_backward(Stream& stream, Input<T> x, Input<T> dy, Tensor<T> dx) {
  const auto kernel = table<T>().backward;
  split_elements(stream, dx.size(), [&](auto begin, auto end) {
    kernel(x.data + begin, dy.data + begin, dx.data + begin, end - begin, dx.add);
  });
}

// The header declares templates; they are instantiated here.
#define SINTER_INSTANTIATE(T)                                       \
  template void squared_relu_forward(Stream&, Input<T>, Tensor<T>); \
  template void squared_relu_backward(Stream&, Input<T>, Input<T>, Tensor<T>);
SINTER_EACH_ELEMENT(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE

}  // namespace sinter::kernel

// ---- 3. The test, against the formula, on odd sizes, for one thread and for several. A test
// inside Sinter also runs on every instruction set (tests/unit/kernels/support.hpp).
#include <cstdio>
#include <cstring>
#include <vector>

namespace {

template <class T>
bool holds(int n) {
  using sinter::kernel::Tensor, sinter::kernel::Wide;
  std::vector<T> x(n), dy(n);
  for (int i = 0; i < n; ++i) {
    x[i] = T(float(i % 17 - 8) / 4);
    dy[i] = T(float(i % 5) - 2);
  }
  bool right = true;
  std::vector<T> first_y, first_dx;
  for (int threads : {1, 2, 3}) {
    sinter::kernel::Stream stream(threads);
    std::vector<T> y(n), dx(n, T(1.f));
    const Tensor input(x.data(), 1, n), slope(dy.data(), 1, n);
    squared_relu_forward(stream, input, Tensor(y.data(), 1, n));
    squared_relu_backward(stream, input, slope, Tensor(dx.data(), 1, n, true));
    for (int i = 0; i < n; ++i) {  // small binary fractions: exact in every type
      const Wide<T> above = Wide<T>(x[i]) > 0 ? Wide<T>(x[i]) : 0;
      right &= Wide<T>(y[i]) == above * above;
      right &= Wide<T>(dx[i]) == 1 + 2 * above * Wide<T>(dy[i]);
    }
    if (threads == 1) first_y = y, first_dx = dx;
    right &= std::memcmp(y.data(), first_y.data(), n * sizeof(T)) == 0;
    right &= std::memcmp(dx.data(), first_dx.data(), n * sizeof(T)) == 0;
  }
  return right;
}

}  // namespace

int main() {
  bool right = true;
  for (int n : {0, 1, 63, 64, 1000, 100'003}) {
    right &= holds<float>(n) && holds<double>(n);
    right &= holds<sinter::BFloat16>(n) && holds<sinter::Float16>(n);
  }
  std::puts(right ? "every result is the formula's" : "a result is not the formula's");
  return right ? 0 : 1;
}
#endif  // HWY_ONCE
