// SPDX-License-Identifier: Apache-2.0
// Vector helpers, compiled once for each instruction set: include after hwy/foreach_target.h.
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "kernels/elements.hpp"

#if defined(SINTER_SIMD_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SINTER_SIMD_INL
#undef SINTER_SIMD_INL
#else
#define SINTER_SIMD_INL
#endif

HWY_BEFORE_NAMESPACE();
namespace sinter::kernel {
namespace {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class D>
using Element_of = hn::TFromD<D>;

/// What Float16 does to one number, for a vector of them: by the processor's own instruction, or by
/// bits. (Without the instruction, Highway cuts off rather than rounds.)
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2 && !defined(HWY_DISABLE_F16C)
template <class D, class Bits>
HWY_INLINE hn::Vec<D> half_to_float(D d, Bits bits) {
  return hn::PromoteTo(d, hn::BitCast(hn::Rebind<hwy::float16_t, D>(), bits));
}
template <class D, class V>
HWY_INLINE auto float_to_half(D, V x) {
  const hn::Rebind<std::uint16_t, D> half;
  return hn::BitCast(half, hn::DemoteTo(hn::Rebind<hwy::float16_t, D>(), x));
}
#else
template <class D, class Bits>
HWY_INLINE hn::Vec<D> half_to_float(D d, Bits bits) {
  const hn::RebindToSigned<D> di;
  const auto all = hn::PromoteTo(di, bits), size = hn::And(all, hn::Set(di, 0x7fff));
  const auto sign = hn::ShiftLeft<16>(hn::Xor(all, size)), shifted = hn::ShiftLeft<13>(size);
  const auto normal = hn::Add(shifted, hn::Set(di, (127 - 15) << 23));
  const auto small = hn::BitCast(di, hn::Mul(hn::ConvertTo(d, size), hn::Set(d, 0x1p-24f)));
  const auto quiet =
      hn::And(hn::VecFromMask(di, hn::Gt(size, hn::Set(di, 0x7c00))), hn::Set(di, 0x400000));
  const auto special = hn::Or(hn::Or(shifted, hn::Set(di, 0x7f800000)), quiet);
  const auto finite = hn::IfThenElse(hn::Lt(size, hn::Set(di, 0x400)), small, normal);
  const auto full = hn::IfThenElse(hn::Lt(size, hn::Set(di, 0x7c00)), finite, special);
  return hn::BitCast(d, hn::Or(sign, full));
}
template <class D, class V>
HWY_INLINE auto float_to_half(D d, V x) {
  const hn::Rebind<std::uint16_t, D> half;
  const hn::RebindToSigned<D> di;
  const auto all = hn::BitCast(di, x), size = hn::And(all, hn::Set(di, 0x7fffffff));
  const auto sign = hn::And(hn::ShiftRight<16>(all), hn::Set(di, 0x8000));
  const auto shifted = hn::ShiftRight<13>(size);
  const auto odd = hn::And(shifted, hn::Set(di, 1));
  const auto carried = hn::Add(size, hn::Add(odd, hn::Set(di, 0xfff - ((127 - 15) << 23))));
  // From 65520 on: infinity.
  const auto normal = hn::Min(hn::ShiftRight<13>(carried), hn::Set(di, 0x7c00));
  // The sum's unit in the last place is 2^-24.
  const auto sum = hn::Add(hn::BitCast(d, size), hn::Set(d, 0.5f));
  const auto small = hn::And(hn::BitCast(di, sum), hn::Set(di, 0x7ff));
  const auto nan = hn::Or(hn::And(shifted, hn::Set(di, 0x3ff)), hn::Set(di, 0x7e00));
  const auto finite = hn::IfThenElse(hn::Lt(size, hn::Set(di, (127 - 14) << 23)), small, normal);
  const auto full = hn::IfThenElse(hn::Gt(size, hn::Set(di, 0x7f800000)), nan, finite);
  return hn::DemoteTo(half, hn::Or(sign, full));
}
#endif

/// Loads a vector of numbers in the type in which kernels compute.
template <class D>
HWY_INLINE hn::Vec<D> load(D d, const Element_of<D>* x) {
  return hn::LoadU(d, x);
}
template <class D>
HWY_INLINE hn::Vec<D> load(D d, const BFloat16* x) {
  const hn::Rebind<std::uint16_t, D> half;
  const hn::RebindToUnsigned<D> du;
  const auto bits = hn::LoadU(half, reinterpret_cast<const std::uint16_t*>(x));
  return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(du, bits)));
}
template <class D>
HWY_INLINE hn::Vec<D> load(D d, const Float16* x) {
  const hn::Rebind<std::uint16_t, D> half;
  const auto bits = hn::LoadU(half, reinterpret_cast<const std::uint16_t*>(x));
  return half_to_float(d, bits);
}

/// Stores a vector, rounded to the type of `to`.
template <class D, class V>
HWY_INLINE void store(V x, D d, Element_of<D>* to) {
  hn::StoreU(x, d, to);
}
template <class D, class V>
HWY_INLINE void store(V x, D, BFloat16* to) {
  const hn::Rebind<std::uint16_t, D> half;
  const hn::RebindToUnsigned<D> du;
  const hn::RebindToSigned<D> di;
  const auto bits = hn::BitCast(du, x);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1u));
  const auto rounded = hn::Add(bits, hn::Add(odd, hn::Set(du, 0x7fffu)));
  const auto quiet = hn::Or(bits, hn::Set(du, 0x400000u));
  const auto full = hn::IfThenElse(hn::RebindMask(du, hn::IsNaN(x)), quiet, rounded);
  const auto upper = hn::BitCast(di, hn::ShiftRight<16>(full));
  hn::StoreU(hn::DemoteTo(half, upper), half, reinterpret_cast<std::uint16_t*>(to));
}
template <class D, class V>
HWY_INLINE void store(V x, D d, Float16* to) {
  const hn::Rebind<std::uint16_t, D> half;
  hn::StoreU(float_to_half(d, x), half, reinterpret_cast<std::uint16_t*>(to));
}

/// Calls op(d, i) for the whole vectors of [0, n), then for the single elements that are left.
template <class T, class Op>
HWY_INLINE void for_each(std::int64_t n, const Op& op) {
  const hn::ScalableTag<Wide<T>> d;
  const hn::CappedTag<Wide<T>, 1> one;
  const auto lanes = std::int64_t(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) op(d, i);
  for (; i < n; ++i) op(one, i);
}

/// c[0] + c[1] x + …
template <class D, class V, class T, std::size_t N>
HWY_INLINE V polynomial(D d, V x, const T (&c)[N]) {
  V y = hn::Set(d, c[N - 1]);
  for (std::size_t i = N - 1; i-- > 0;) y = hn::MulAdd(y, x, hn::Set(d, c[i]));
  return y;
}

/// (2^f - 1) / f on [-1/2, 1/2], to 5e-9 for float and to 8e-18 for double, from interpolation at
/// Chebyshev's points.
template <class T>
struct Exp2;
template <>
struct Exp2<float> {
  static constexpr int bits = 23;
  static constexpr float least = -126, most = 127, round = 12582912.0f;
  static constexpr std::uint32_t bias = 127;
  static constexpr float c[] = {0.693147188026228781f,   0.240226507605681269f,
                                0.0555035711421907782f,  0.00961808255727785149f,
                                0.00133908633646712344f, 0.000154531629451206902f};
};
template <>
struct Exp2<double> {
  static constexpr int bits = 52;
  static constexpr double least = -1022, most = 1023, round = 6755399441055744.0;
  static constexpr std::uint64_t bias = 1023;
  static constexpr double c[] = {
      0.693147180559945309,     0.240226506959100982,   0.0555041086648215943,
      0.00961812910760688853,   0.00133335581464169353, 0.000154035304417360502,
      0.0000152527338298361184, 1.32154425879216897e-6, 1.01780624458457735e-7,
      7.0725859692492237e-9,    4.45496059818651839e-10};
};

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
/// y 2^n, n whole, by AVX-512's instruction for it.
template <class V>
HWY_INLINE V times_power(V y, V n) {
  constexpr bool wide = sizeof(y.raw) == 64;
  if constexpr (std::is_same_v<hn::TFromV<V>, float>) {
    if constexpr (wide) return V{_mm512_scalef_ps(y.raw, n.raw)};
    if constexpr (sizeof(y.raw) == 32) return V{_mm256_scalef_ps(y.raw, n.raw)};
    if constexpr (sizeof(y.raw) == 16) return V{_mm_scalef_ps(y.raw, n.raw)};
  } else {
    if constexpr (wide) return V{_mm512_scalef_pd(y.raw, n.raw)};
    if constexpr (sizeof(y.raw) == 32) return V{_mm256_scalef_pd(y.raw, n.raw)};
    if constexpr (sizeof(y.raw) == 16) return V{_mm_scalef_pd(y.raw, n.raw)};
  }
}
#endif

/// 2^x within 1 ulp; 0 where the result would be below the normal numbers, NaN for NaN, and
/// something huge or infinite where it would overflow.
template <class D, class V>
HWY_INLINE V exp2(D d, V x) {
  using T = Element_of<D>;
  using E = Exp2<T>;
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  const V whole = hn::Round(x), f = hn::Sub(x, whole);
  const V y = times_power(hn::MulAdd(f, polynomial(d, f, E::c), hn::Set(d, T(1))), whole);
#else
  const hn::RebindToUnsigned<D> du;
  V within = hn::Min(hn::Max(x, hn::Set(d, E::least)), hn::Set(d, E::most));
  V shifted = hn::Add(within, hn::Set(d, E::round));  // the low bits are the integer part
  V f = hn::Sub(x, hn::Sub(shifted, hn::Set(d, E::round)));
  V power = hn::BitCast(
      d, hn::ShiftLeft<E::bits>(hn::Add(hn::BitCast(du, shifted), hn::Set(du, E::bias))));
  V y = hn::MulAdd(hn::Mul(f, power), polynomial(d, f, E::c), power);
#endif
  return hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, E::least)), y);
}

/// e^x, with the relative error of 2^x plus |x| ulp.
template <class D, class V>
HWY_INLINE V exp(D d, V x) {
  return exp2(d, hn::Mul(x, hn::Set(d, Element_of<D>(1.44269504088896340736))));
}

/// The sum, and the largest, of all lanes.
template <class D, class V>
HWY_INLINE Element_of<D> reduce_sum(D d, V x) {
  return hn::GetLane(hn::SumOfLanes(d, x));
}
/// Of no number that is finite, too: MaxOfLanes of emulated vectors begins with the lowest one.
template <class D, class V>
HWY_INLINE Element_of<D> reduce_max(D d, V x) {
#if HWY_TARGET == HWY_EMU128
  Element_of<D> lanes[hn::MaxLanes(D())];
  hn::StoreU(x, d, lanes);
  return *std::max_element(lanes, lanes + hn::Lanes(d));
#else
  return hn::GetLane(hn::MaxOfLanes(d, x));
#endif
}

/// Stores value, or adds it to what is there.
template <class D, class V, class T>
HWY_INLINE void put(D d, V value, T* to, bool add) {
  store(add ? hn::Add(load(d, to), value) : value, d, to);
}

/// put() for an array, from one type to another. It may narrow in place: a vector is read before
/// anything is written over it.
template <class From, class To>
HWY_INLINE void put_all(const From* from, To* to, std::int64_t n, bool add) {
  for_each<From>(n,
                 [=](auto d, std::int64_t i) HWY_ATTR { put(d, load(d, from + i), to + i, add); });
}

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace sinter::kernel
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
