// SPDX-License-Identifier: Apache-2.0
// Sums over a row, compiled once for each instruction set: include after hwy/foreach_target.h.
#include "kernels/cpu/simd-inl.hpp"

#if defined(SINTER_ROW_SUM_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SINTER_ROW_SUM_INL
#undef SINTER_ROW_SUM_INL
#else
#define SINTER_ROW_SUM_INL
#endif

HWY_BEFORE_NAMESPACE();
namespace sinter::kernel {
namespace {
namespace HWY_NAMESPACE {

/// Σ term(d, i) over a row. The order depends only on the width.
template <class T, class Term>
HWY_INLINE T row_sum(int width, const Term& term) {
  const hn::ScalableTag<T> d;
  const hn::CappedTag<T, 1> one;
  const int lanes = int(hn::Lanes(d));
  auto a = hn::Zero(d), b = hn::Zero(d);
  int i = 0;
  for (; i + 2 * lanes <= width; i += 2 * lanes) {
    a = hn::Add(a, term(d, i));
    b = hn::Add(b, term(d, i + lanes));
  }
  for (; i + lanes <= width; i += lanes) a = hn::Add(a, term(d, i));
  T sum = reduce_sum(d, hn::Add(a, b));
  for (; i < width; ++i) sum += hn::GetLane(term(one, i));
  return sum;
}

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace sinter::kernel
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
