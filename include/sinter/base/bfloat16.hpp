// SPDX-License-Identifier: Apache-2.0
// BFloat16, the upper half of a float: its range, and 8 bits of precision (Kalamkar et al. 2019).
#pragma once
#include <bit>
#include <cstdint>
#include <type_traits>

#include "sinter/base/wide.hpp"

namespace sinter {

/// A bfloat16 number. A float is rounded to nearest, ties to even; a NaN stays a NaN.
struct BFloat16 {
  std::uint16_t bits;  ///< sign, 8 of the exponent, 7 of the fraction

  BFloat16() = default;
  /// Rounds a float.
  constexpr explicit BFloat16(float x) : bits(rounded(x)) {}
  /// Converts to float, exactly.
  constexpr operator float() const { return std::bit_cast<float>(std::uint32_t(bits) << 16); }

 private:
  static constexpr std::uint16_t rounded(float x) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    if (!std::is_constant_evaluated()) {
      std::uint16_t bits;
      asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(x));
      return bits;
    }
#endif
    const auto full = std::bit_cast<std::uint32_t>(x);
    bool nan = (full & 0x7fffffff) > 0x7f800000;
    return std::uint16_t((nan ? full | 0x400000 : full + 0x7fff + (full >> 16 & 1)) >> 16);
  }
};

/// Kernels compute on bfloat16 in float.
template <>
struct kernel::WideOf<BFloat16> {
  using type = float;  ///< the wide type
};

}  // namespace sinter
