// SPDX-License-Identifier: Apache-2.0
// Random bits as a function of a key and a counter, in vectors, compiled once for each instruction
// set: include after hwy/foreach_target.h.
#include <hwy/highway.h>

#include "kernels/cpu/simd-inl.hpp"

#if defined(SINTER_RANDOM_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SINTER_RANDOM_INL
#undef SINTER_RANDOM_INL
#else
#define SINTER_RANDOM_INL
#endif

HWY_BEFORE_NAMESPACE();
namespace sinter::kernel {
namespace {
namespace HWY_NAMESPACE {

/// 32 random bits for each counter under a 64-bit key (low, high): a bijection of the counter,
/// MurmurHash3's finalizer with half of the key added before each of its two mixing steps.
template <class D32, class V>
HWY_INLINE V random_bits(D32 d, V low, V high, V counter) {
  V x = hn::Add(counter, low);
  x = hn::Mul(hn::Xor(x, hn::ShiftRight<16>(x)), hn::Set(d, 0x85ebca6bu));
  x = hn::Add(x, high);
  x = hn::Mul(hn::Xor(x, hn::ShiftRight<13>(x)), hn::Set(d, 0xc2b2ae35u));
  return hn::Xor(x, hn::ShiftRight<16>(x));
}

/// x where the random bits, taken as signed, reach the threshold, else 0. There is one lane of bits
/// for each lane of x, so that for doubles they are half a vector.
template <class D, class V, class Bits>
HWY_INLINE V keep(D d, V x, Bits bits, std::int32_t threshold) {
  const hn::Rebind<std::int32_t, D> di;
  auto dropped = hn::Lt(hn::BitCast(di, bits), hn::Set(di, threshold));
  if constexpr (sizeof(Element_of<D>) == 4) {
    return hn::AndNot(hn::BitCast(d, hn::VecFromMask(di, dropped)), x);
  } else {
    const hn::Rebind<std::int64_t, D> dl;
    return hn::AndNot(hn::BitCast(d, hn::PromoteTo(dl, hn::VecFromMask(di, dropped))), x);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace sinter::kernel
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
