// SPDX-License-Identifier: Apache-2.0
// silu(x) = x s(x), with s the logistic function, compiled once for each instruction set: include
// after hwy/foreach_target.h.
#include "kernels/cpu/simd-inl.hpp"

#if defined(SINTER_SILU_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SINTER_SILU_INL
#undef SINTER_SILU_INL
#else
#define SINTER_SILU_INL
#endif

HWY_BEFORE_NAMESPACE();
namespace sinter::kernel {
namespace {
namespace HWY_NAMESPACE {

struct Silu {
  template <class D, class V>
  static HWY_INLINE V value(D d, V x) {
    return hn::Div(x, hn::Add(exp(d, hn::Neg(x)), hn::Set(d, Element_of<D>(1))));
  }
  /// s + x s (1 - s), where s = r or e r, and s (1 - s) = e r²: no cancellation, no overflow.
  template <class D, class V>
  static HWY_INLINE V slope(D d, V x, V* value = nullptr) {
    const V one = hn::Set(d, Element_of<D>(1));
    const V e = exp(d, hn::Neg(hn::Abs(x)));
    const V r = hn::Div(one, hn::Add(e, one));
    const V s = hn::Mul(r, hn::IfThenElse(hn::Lt(x, hn::Zero(d)), e, one));
    if (value) *value = hn::Mul(x, s);
    return hn::MulAdd(hn::Mul(x, e), hn::Mul(r, r), s);
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace sinter::kernel
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
