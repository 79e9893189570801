#include "sinter/kernels/dropout.hpp"

#include "kernels/cpu/mask.hpp"
#include "kernels/cpu/split.hpp"
#include "kernels/cpu/targets.hpp"
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

template <class T>
void masked(Stream& stream, const T* x, T* y, int rows, int width, const Dropout& dropout,
            bool add) {
  auto kernel = table<T>().mask;
  auto threshold = keep_threshold(dropout);
  auto scale = Wide<T>(keep_scale(dropout));
  split_rows(stream, rows, 4 * width, [&](int begin, int end) {
    for (std::int64_t r = begin; r < end; ++r)
      kernel(x + r * width, y + r * width, width, row_key(dropout, r), threshold, scale, add);
  });
}

}  // namespace

template <class T>
void dropout_forward(Stream& stream, const T* x, T* y, int rows, int width, Dropout dropout) {
  if (dropout.probability == 0) return copy(stream, x, y, std::int64_t(rows) * width);
  masked(stream, x, y, rows, width, dropout, false);
}

template <class T>
void dropout_backward(Stream& stream, const T* dy, T* dx, int rows, int width, Dropout dropout,
                      bool add) {
  std::int64_t n = std::int64_t(rows) * width;
  if (dropout.probability == 0)
    return add ? accumulate(stream, dy, dx, n) : copy(stream, dy, dx, n);
  masked(stream, dy, dx, rows, width, dropout, add);
}

#define SINTER_INSTANTIATE(T)                                              \
  template void dropout_forward(Stream&, const T*, T*, int, int, Dropout); \
  template void dropout_backward(Stream&, const T*, T*, int, int, Dropout, bool);
SINTER_EACH_ELEMENT(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE

}  // namespace sinter::kernel
#endif  // HWY_ONCE
