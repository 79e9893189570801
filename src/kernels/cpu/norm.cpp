// SPDX-License-Identifier: Apache-2.0
#include "sinter/kernels/norm.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "hardware/cpu/split.hpp"
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
constexpr int block_size = 4096;
/// Elements whose squares are added in double before they go into bins.
constexpr int together = 16;

/// The bins of a BinnedSum as integers, which take the sums of 2^23 blocks.
struct Bins {
  std::int64_t whole[std::size_t(BinnedSum::count)] = {};
  double beyond = 0;  ///< infinite, or not a number, if a summand is
};

/// What each instruction set provides, on one block.
template <class T>
struct NormTable {
  void (*add_squares)(const T* x, int n, Bins& bins);
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

/// Σ x[i]² of 16: of i and i + 8, of these sums of i and i + 4, and so on.
template <class T>
HWY_INLINE double sum_together(const T* x) {
  constexpr hn::CappedTag<double, together / 2> d;
  constexpr int lanes = int(hn::MaxLanes(d)), parts = together / 2 / lanes;
  hn::Vec<decltype(d)> sums[std::size_t(parts)];
  for (int p = 0; p < parts; ++p) {
    const auto low = load_double(d, x + p * lanes), high = load_double(d, x + (parts + p) * lanes);
    sums[p] = hn::MulAdd(high, high, hn::Mul(low, low));
  }
  for (int half = parts / 2; half > 0; half /= 2)
    for (int p = 0; p < half; ++p) sums[p] = hn::Add(sums[p], sums[p + half]);
#if HWY_TARGET == HWY_SCALAR
  return hn::GetLane(sums[0]);
#else
  auto fold = [](auto half, auto v)
                  HWY_ATTR { return hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)); };
  constexpr hn::Half<decltype(d)> half;
  if constexpr (lanes == 2) {
    return hn::GetLane(fold(half, sums[0]));
  } else {
    constexpr hn::Half<decltype(half)> quarter;
    const auto two = fold(quarter, fold(half, sums[0]));
    if constexpr (lanes == 4) return hn::GetLane(two);
    if constexpr (lanes == 8) return hn::GetLane(fold(hn::Half<decltype(quarter)>(), two));
  }
#endif
}

/// Adds n sums ≥ 0 to bins, from the highest that one of them reaches. What a bin takes of a sum is cut off by
/// adding a number so large that its last place is the bin's unit. n: a multiple of the lanes.
HWY_INLINE void add_to_bins(double* sums, int n, Bins& bins) {
  const hn::ScalableTag<double> d;
  const int lanes = int(hn::Lanes(d));
  auto total = hn::Zero(d), most = hn::Zero(d);
  for (int i = 0; i < n; i += lanes) {
    const auto x = hn::LoadU(d, sums + i);
    total = hn::Add(total, x);
    most = hn::Max(most, x);
  }
  const double all = reduce_sum(d, total);
  if (!(all < std::ldexp(1, -BinnedSum::lowest))) {
    bins.beyond += all * std::ldexp(1, 1000);
    return;
  }
  double left = reduce_max(d, most);
  if (left == 0) return;
  int k = std::clamp((std::ilogb(left) - BinnedSum::lowest) / BinnedSum::width, 0,
                     BinnedSum::count - 1);
  for (; k >= 0 && left > 0; --k) {
    const double unit = std::ldexp(1, BinnedSum::width * k + BinnedSum::lowest);
    const auto large = hn::Set(d, 0x1.8p52 * unit);
    total = most = hn::Zero(d);
    for (int i = 0; i < n; i += lanes) {
      const auto x = hn::LoadU(d, sums + i);
      const auto taken = hn::Sub(hn::Add(x, large), large), rest = hn::Sub(x, taken);
      hn::StoreU(rest, d, sums + i);
      total = hn::Add(total, taken);
      most = hn::Max(most, hn::Abs(rest));
    }
    bins.whole[k] += std::int64_t(reduce_sum(d, total) / unit);
    left = reduce_max(d, most);
  }
}

template <class T>
void add_squares_of_block(const T* x, int n, Bins& bins) {
  double sums[std::size_t(block_size / together)];
  int count = 0, i = 0;
  for (; i + together <= n; i += together) sums[count++] = sum_together(x + i);
  if (i < n) {
    T last[std::size_t(together)] = {};
    std::copy(x + i, x + n, last);
    sums[count++] = sum_together(last);
  }
  const int lanes = int(hn::Lanes(hn::ScalableTag<double>()));
  while (count % lanes != 0) sums[count++] = 0;
  add_to_bins(sums, count, bins);
}

template <class T>
NormTable<T> make_table() {
  return {add_squares_of_block<T>, sum_block<true, T>, sum_block<false, T>};
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

/// Blocks are summed into at most `max_groups` partial sums, and these in order. Their number and
/// borders depend only on n.
constexpr int max_groups = 256;

/// Calls kernel(x, n, its group's sum) for each block, and then add(sum) for each group in order.
template <class Sum, class T>
void blockwise(Stream& stream, const T* x, std::int64_t n, const auto& kernel, const auto& add) {
  const std::int64_t blocks = (n + block_size - 1) / block_size;
  const std::int64_t groups = std::min<std::int64_t>(blocks, max_groups);
  std::array<Sum, max_groups> partial;
  split(stream, groups, n / std::max<std::int64_t>(groups, 1), 1, [&](auto first, auto last) {
    for (auto g = first; g < last; ++g) {
      Sum& sum = partial[std::size_t(g)] = Sum{};
      for (auto b = blocks * g / groups; b < blocks * (g + 1) / groups; ++b) {
        const auto at = b * block_size;
        kernel(x + at, int(std::min<std::int64_t>(n - at, block_size)), sum);
      }
    }
  });
  for (std::int64_t g = 0; g < groups; ++g) add(partial[std::size_t(g)]);
}

template <class T>
double sum_of_blocks(Stream& stream, double (*kernel)(const T*, int), const T* x, std::int64_t n) {
  double sum = 0;
  blockwise<double>(
      stream, x, n, [=](const T* block, int size, double& to) { to += kernel(block, size); },
      [&](double part) { sum += part; });
  return sum;
}

}  // namespace

template <class T>
void add_squares(Stream& stream, const T* x, std::int64_t n, BinnedSum* sum) {
  Bins all;
  blockwise<Bins>(stream, x, n, table<T>().add_squares, [&](const Bins& part) {
    for (int k = 0; k < BinnedSum::count; ++k) all.whole[k] += part.whole[k];
    all.beyond += part.beyond;
  });
  for (int k = 0; k + 1 < BinnedSum::count; ++k) {  // so that a bin takes many sums
    const std::int64_t above = all.whole[k] >> BinnedSum::width;
    all.whole[k + 1] += above;
    all.whole[k] -= above << BinnedSum::width;
  }
  for (int k = 0; k < BinnedSum::count; ++k) sum->bins[k] += double(all.whole[k]);
  sum->bins[BinnedSum::count - 1] += all.beyond;
}

template <class T>
void sum_of_squares(Stream& stream, const T* x, std::int64_t n, double* result, bool add) {
  const double sum = sum_of_blocks(stream, table<T>().sum_of_squares, x, n);
  *result = add ? *result + sum : sum;
}

template <class T>
void sum(Stream& stream, const T* x, std::int64_t n, double* result, bool add) {
  const double sum = sum_of_blocks(stream, table<T>().sum, x, n);
  *result = add ? *result + sum : sum;
}

template <class T>
void scale_to_unit_norm(Stream& stream, T* x, std::int64_t n, double least) {
  const double norm = std::sqrt(sum_of_blocks(stream, table<T>().sum_of_squares, x, n));
  scale(stream, x, T(1 / std::max(norm, least)), x, n);
}

#define SINTER_INSTANTIATE(T)                                                   \
  template void add_squares(Stream&, const T*, std::int64_t, BinnedSum*);       \
  template void sum_of_squares(Stream&, const T*, std::int64_t, double*, bool); \
  template void sum(Stream&, const T*, std::int64_t, double*, bool);
SINTER_EACH_ELEMENT(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE
template void scale_to_unit_norm(Stream&, float*, std::int64_t, double);
template void scale_to_unit_norm(Stream&, double*, std::int64_t, double);

}  // namespace sinter::kernel
#endif  // HWY_ONCE
