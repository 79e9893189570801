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
void swiglu_forward(Stream& stream, const T* x, T* y, int rows, int width) {
  auto kernel = table<T>().forward;
  split_rows(stream, rows, 4 * width, [&](int begin, int end) {
    for (std::int64_t r = begin; r < end; ++r) {
      const T* gate = x + r * 2 * width;
      kernel(gate, gate + width, y + r * width, width);
    }
  });
}

template <class T>
void swiglu_backward(Stream& stream, const T* x, const T* dy, T* dx, int rows, int width,
                     bool add) {
  auto kernel = table<T>().backward;
  split_rows(stream, rows, 4 * width, [&](int begin, int end) {
    for (std::int64_t r = begin; r < end; ++r) {
      const T* gate = x + r * 2 * width;
      T* dgate = dx + r * 2 * width;
      kernel(gate, gate + width, dy + r * width, dgate, dgate + width, width, add);
    }
  });
}

#define SINTER_INSTANTIATE(T)                                    \
  template void swiglu_forward(Stream&, const T*, T*, int, int); \
  template void swiglu_backward(Stream&, const T*, const T*, T*, int, int, bool);
SINTER_EACH_ELEMENT(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE

}  // namespace sinter::kernel
#endif  // HWY_ONCE
