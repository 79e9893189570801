// SPDX-License-Identifier: Apache-2.0
#include "kernels/logits.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/cpu/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/logits.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/simd-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace sinter::kernel {
namespace {
namespace HWY_NAMESPACE {

constexpr float infinity = std::numeric_limits<float>::infinity();

LogitRange range_on_target(const float* x, std::int64_t n) {
  const hn::ScalableTag<float> d;
  const auto lanes = std::int64_t(hn::Lanes(d));
  auto largest = hn::Set(d, -infinity);
  auto is_fine = hn::Eq(largest, largest);
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto some = hn::LoadU(d, x + i);
    largest = hn::Max(largest, some);
    is_fine = hn::And(is_fine, hn::Lt(some, hn::Set(d, infinity)));
  }
  LogitRange all{reduce_max(d, largest), hn::AllTrue(d, is_fine)};
  for (; i < n; ++i) {
    all.largest = std::max(all.largest, x[i]);
    all.is_fine = all.is_fine && x[i] < infinity;
  }
  return all;
}

/// Number i is added to sum number i mod `sums`, whatever the size of a vector.
constexpr int sums = 16;
using SumTag = hn::CappedTag<double, 8>;
constexpr int sum_lanes = int(hn::MaxLanes(SumTag())), sum_vectors = sums / sum_lanes;

/// Adds exp(x - top) for `sums` numbers.
HWY_INLINE void add_exponentials(const float* x, double top, hn::Vec<SumTag>* to) {
  const SumTag d;
  const hn::Rebind<float, SumTag> narrow;
  for (int v = 0; v < sum_vectors; ++v) {
    const auto some = hn::PromoteTo(d, hn::LoadU(narrow, x + v * sum_lanes));
    to[v] = hn::Add(to[v], exp(d, hn::Sub(some, hn::Set(d, top))));
  }
}

/// Σ exp(x - top).
double sum_on_target(const float* x, std::int64_t n, double top) {
  const SumTag d;
  hn::Vec<SumTag> vectors[sum_vectors];
  for (auto& vector : vectors) vector = hn::Zero(d);
  std::int64_t i = 0;
  for (; i + sums <= n; i += sums) add_exponentials(x + i, top, vectors);
  float rest[sums];
  std::fill(std::copy(x + i, x + n, rest), rest + sums, -infinity);
  add_exponentials(rest, top, vectors);
  double parts[sums];
  for (int v = 0; v < sum_vectors; ++v) hn::StoreU(vectors[v], d, parts + v * sum_lanes);
  for (int half = sums / 2; half > 0; half /= 2)
    for (int k = 0; k < half; ++k) parts[k] += parts[k + half];
  return parts[0];
}

std::int64_t find_on_target(const float* x, std::int64_t first, std::int64_t n, float bound) {
  const hn::ScalableTag<float> d;
  const auto lanes = std::int64_t(hn::Lanes(d));
  std::int64_t i = first;
  for (; i + lanes <= n; i += lanes) {
    const auto is_above = hn::Ge(hn::LoadU(d, x + i), hn::Set(d, bound));
    if (const auto at = hn::FindFirstTrue(d, is_above); at >= 0) return i + at;
  }
  while (i < n && !(x[i] >= bound)) ++i;
  return i;
}

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace sinter::kernel
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sinter::kernel {
namespace {
HWY_EXPORT(range_on_target);
HWY_EXPORT(sum_on_target);
HWY_EXPORT(find_on_target);
}  // namespace

LogitRange logit_range(const float* logits, std::int64_t n) {
  return HWY_DYNAMIC_DISPATCH(range_on_target)(logits, n);
}

double log_sum_exp(const float* logits, std::int64_t n, float largest) {
  const double top = largest;
  if (!(top > -std::numeric_limits<double>::infinity())) return top;
  return top + std::log(HWY_DYNAMIC_DISPATCH(sum_on_target)(logits, n, top));
}

std::int64_t find_at_least(const float* x, std::int64_t first, std::int64_t n, float bound) {
  return HWY_DYNAMIC_DISPATCH(find_on_target)(x, first, n, bound);
}

}  // namespace sinter::kernel
#endif  // HWY_ONCE
