// SPDX-License-Identifier: Apache-2.0
#include "sinter/kernels/dropout.hpp"

#include "hardware/cpu/split.hpp"
#include "kernels/cpu/targets.hpp"
#include "kernels/mask.hpp"
#include "sinter/kernels/elementwise.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/dropout.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/random-inl.hpp"

#ifndef SINTER_DROPOUT_TABLE
#define SINTER_DROPOUT_TABLE
namespace sinter::kernel {
namespace {
/// What each instruction set provides, on one row.
template <class T>
struct DropoutTable {
  void (*mask)(const T* x, T* y, int width, std::uint64_t key, std::int32_t threshold,
               Wide<T> scale, bool add);
};
}  // namespace
}  // namespace sinter::kernel
#endif

HWY_BEFORE_NAMESPACE();
namespace sinter::kernel {
namespace {
namespace HWY_NAMESPACE {

template <class T>
void mask(const T* x, T* y, int width, std::uint64_t key, std::int32_t threshold, Wide<T> scale,
          bool add) {
  const auto low = std::uint32_t(key), high = std::uint32_t(key >> 32);
  for_each<T>(width, [=](auto d, std::int64_t i) HWY_ATTR {
    const hn::Rebind<std::uint32_t, decltype(d)> du;
    auto bits =
        random_bits(du, hn::Set(du, low), hn::Set(du, high), hn::Iota(du, std::uint32_t(i)));
    auto scaled = hn::Mul(load(d, x + i), hn::Set(d, scale));
    put(d, keep(d, scaled, bits, threshold), y + i, add);
  });
}

template <class T>
DropoutTable<T> make_table() {
  return {mask<T>};
}
SINTER_TABLES(DropoutTable)

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace sinter::kernel
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sinter::kernel {
namespace {

SINTER_DISPATCH(DropoutTable)
}  // namespace

template <class T>
void dropout(Stream& stream, Input<T> x, Tensor<T> y, Dropout dropout) {
  if (dropout.probability == 0) return put(stream, x, y);
  auto kernel = table<T>().mask;
  auto threshold = keep_threshold(dropout);
  auto scale = Wide<T>(keep_scale(dropout));
  const int width = y.columns;
  split_rows(stream, y.rows, 4 * width, [&](int begin, int end) {
    for (std::int64_t r = begin; r < end; ++r)
      kernel(x.data + r * width, y.data + r * width, width, row_key(dropout, r), threshold, scale,
             y.add);
  });
}

#define SINTER_INSTANTIATE(T) template void dropout(Stream&, Input<T>, Tensor<T>, Dropout);
SINTER_EACH_ELEMENT(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE

}  // namespace sinter::kernel
#endif  // HWY_ONCE
