// SPDX-License-Identifier: Apache-2.0
#include "sinter/kernels/norm.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/cpu/split.hpp"
#include "kernels/cpu/targets.hpp"
#include "sinter/kernels/elementwise.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/norm.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/simd-inl.hpp"

#ifndef SINTER_NORM_TABLE
#define SINTER_NORM_TABLE
namespace sinter::kernel {
namespace {
/// What each instruction set provides, on one block.
template <class T>
struct NormTable {
  double (*sum_of_squares)(const T* x, int n);
  double (*sum)(const T* x, int n);
};
}  // namespace
}  // namespace sinter::kernel
#endif

HWY_BEFORE_NAMESPACE();
namespace sinter::kernel {
namespace {
namespace HWY_NAMESPACE {

/// A vector of doubles.
template <class D, class T>
HWY_INLINE hn::Vec<D> load_double(D d, const T* x) {
  if constexpr (sizeof(T) == 8) {
    return load(d, x);
  } else {
    return hn::PromoteTo(d, load(hn::Rebind<float, D>(), x));
  }
}

template <bool Square, class T>
double sum_block(const T* x, int n) {
  const hn::ScalableTag<double> d;
  const int lanes = int(hn::Lanes(d));
  auto next = [d](hn::Vec<decltype(d)> sum, const T* at) HWY_ATTR {
    auto v = load_double(d, at);
    return Square ? hn::MulAdd(v, v, sum) : hn::Add(v, sum);
  };
  auto a = hn::Zero(d), b = a, c = a, e = a;
  int i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    a = next(a, x + i);
    b = next(b, x + i + lanes);
    c = next(c, x + i + 2 * lanes);
    e = next(e, x + i + 3 * lanes);
  }
  for (; i + lanes <= n; i += lanes) a = next(a, x + i);
  double sum = reduce_sum(d, hn::Add(hn::Add(a, b), hn::Add(c, e)));
  for (; i < n; ++i) sum += Square ? double(x[i]) * double(x[i]) : double(x[i]);
  return sum;
}

template <class T>
NormTable<T> make_table() {
  return {sum_block<true, T>, sum_block<false, T>};
}
SINTER_TABLES(NormTable)

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace sinter::kernel
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sinter::kernel {
namespace {

SINTER_DISPATCH(NormTable)

/// Blocks are summed into at most `most_groups` partial sums, whose number and borders depend on n
/// alone, and these in order.
constexpr int block_size = 4096;
constexpr int most_groups = 256;

template <class T>
double blockwise(Stream& stream, double (*kernel)(const T*, int), const T* x, std::int64_t n) {
  std::int64_t blocks = (n + block_size - 1) / block_size;
  std::int64_t groups = std::min<std::int64_t>(blocks, most_groups);
  double partial[most_groups];
  split(stream, groups, n / std::max<std::int64_t>(groups, 1), 1, [&](auto first, auto last) {
    for (auto g = first; g < last; ++g) {
      double sum = 0;
      for (auto b = blocks * g / groups; b < blocks * (g + 1) / groups; ++b) {
        auto at = b * block_size;
        sum += kernel(x + at, int(std::min<std::int64_t>(n - at, block_size)));
      }
      partial[g] = sum;
    }
  });
  double sum = 0;
  for (int g = 0; g < groups; ++g) sum += partial[g];
  return sum;
}

}  // namespace

template <class T>
void sum_of_squares(Stream& stream, const T* x, std::int64_t n, double* result, bool add) {
  const double sum = blockwise(stream, table<T>().sum_of_squares, x, n);
  *result = add ? *result + sum : sum;
}

template <class T>
void sum(Stream& stream, const T* x, std::int64_t n, double* result, bool add) {
  const double sum = blockwise(stream, table<T>().sum, x, n);
  *result = add ? *result + sum : sum;
}

template <class T>
void scale_to_unit_norm(Stream& stream, T* x, std::int64_t n, double least) {
  const double norm = std::sqrt(blockwise(stream, table<T>().sum_of_squares, x, n));
  scale(stream, x, T(1 / std::max(norm, least)), x, n);
}

#define SINTER_INSTANTIATE(T)                                                   \
  template void sum_of_squares(Stream&, const T*, std::int64_t, double*, bool); \
  template void sum(Stream&, const T*, std::int64_t, double*, bool);
SINTER_EACH_ELEMENT(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE
template void scale_to_unit_norm(Stream&, float*, std::int64_t, double);
template void scale_to_unit_norm(Stream&, double*, std::int64_t, double);

}  // namespace sinter::kernel
#endif  // HWY_ONCE
