// SPDX-License-Identifier: Apache-2.0
// IEEE 754 half precision (binary16): 11 bits of precision, numbers from 2^-24 to 65504.
#pragma once
#include <bit>
#include <cstdint>

#include "sinter/base/wide.hpp"

namespace sinter {

/// An IEEE half. A float is rounded to nearest, ties to even; from 65520 on to infinity; below
/// 2^-14 to a multiple of 2^-24. A NaN stays a NaN: it becomes quiet and keeps the upper bits of
/// its payload, as with processors' own instructions.
struct Float16 {
  std::uint16_t bits;  ///< sign, 5 of the exponent, 10 of the fraction

  Float16() = default;
  /// Rounds a float.
  constexpr explicit Float16(float x) : bits(rounded(std::bit_cast<std::uint32_t>(x))) {}
  /// Converts to float, exactly.
  constexpr operator float() const { return std::bit_cast<float>(full(bits)); }

 private:
  static constexpr std::uint32_t infinity = 0x7f800000, rebias = (127 - 15) << 23;

  static constexpr std::uint16_t rounded(std::uint32_t full) {
    const std::uint32_t sign = full >> 16 & 0x8000, size = full & 0x7fffffff;
    if (size > infinity) return std::uint16_t(sign | 0x7e00 | (size >> 13 & 0x3ff));
    if (size >= std::bit_cast<std::uint32_t>(65520.0f)) return std::uint16_t(sign | 0x7c00);
    if (size < std::bit_cast<std::uint32_t>(0x1p-14f)) {
      // The sum's unit in the last place is 2^-24.
      const float sum = std::bit_cast<float>(size) + 0.5f;
      return std::uint16_t(sign | (std::bit_cast<std::uint32_t>(sum) & 0x7ff));
    }
    return std::uint16_t(sign | (size - rebias + 0xfff + (size >> 13 & 1)) >> 13);
  }
  static constexpr std::uint32_t full(std::uint16_t bits) {
    const std::uint32_t sign = std::uint32_t(bits & 0x8000) << 16, size = bits & 0x7fff;
    if (size < 0x400) return sign | std::bit_cast<std::uint32_t>(float(size) * 0x1p-24f);
    if (size < 0x7c00) return sign | ((size << 13) + rebias);
    return sign | infinity | size << 13 | (size > 0x7c00 ? 0x400000 : 0);
  }
};

/// Kernels compute on halves in float.
template <>
struct kernel::WideOf<Float16> {
  using type = float;  ///< the wide type
};

}  // namespace sinter
