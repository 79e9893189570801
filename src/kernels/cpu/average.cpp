// SPDX-License-Identifier: Apache-2.0
#include "sinter/kernels/average.hpp"

#include "hardware/cpu/split.hpp"
#include "kernels/cpu/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/average.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/simd-inl.hpp"

#ifndef SINTER_AVERAGE_TABLE
#define SINTER_AVERAGE_TABLE
namespace sinter::kernel {
namespace {
/// What each instruction set provides, on one range.
template <class T>
struct AverageTable {
  void (*move_average)(const T* x, Wide<T>* average, Wide<T> weight, std::int64_t n);
};
}  // namespace
}  // namespace sinter::kernel
#endif

HWY_BEFORE_NAMESPACE();
namespace sinter::kernel {
namespace {
namespace HWY_NAMESPACE {

template <class T>
void move_average(const T* x, Wide<T>* average, Wide<T> weight, std::int64_t n) {
  for_each<T>(n, [=](auto d, std::int64_t i) HWY_ATTR {
    const auto a = load(d, average + i);
    store(hn::MulAdd(hn::Set(d, weight), hn::Sub(load(d, x + i), a), a), d, average + i);
  });
}

template <class T>
AverageTable<T> make_table() {
  return {move_average<T>};
}
SINTER_TABLES(AverageTable)

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace sinter::kernel
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sinter::kernel {
namespace {
SINTER_DISPATCH(AverageTable)
}  // namespace

template <class T>
void move_average(Stream& stream, const T* x, Wide<T>* average, double weight, std::int64_t n) {
  split_elements(stream, n, [&](auto begin, auto end) {
    table<T>().move_average(x + begin, average + begin, Wide<T>(weight), end - begin);
  });
}

#define SINTER_INSTANTIATE(T) \
  template void move_average(Stream&, const T*, Wide<T>*, double, std::int64_t);
SINTER_EACH_ELEMENT(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE

}  // namespace sinter::kernel
#endif
