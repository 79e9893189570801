// The upper half of a float: its range, and 8 bits of precision (Kalamkar et al. 2019).
#pragma once
#include <bit>
#include <cstdint>

namespace sinter {

/// Rounded to nearest, ties to even; a NaN stays one.
struct BFloat16 {
  std::uint16_t bits;

  BFloat16() = default;
  constexpr explicit BFloat16(float x) : bits(rounded(std::bit_cast<std::uint32_t>(x))) {}
  constexpr operator float() const { return std::bit_cast<float>(std::uint32_t(bits) << 16); }

 private:
  static constexpr std::uint16_t rounded(std::uint32_t full) {
    bool nan = (full & 0x7fffffff) > 0x7f800000;
    return std::uint16_t((nan ? full | 0x400000 : full + 0x7fff + (full >> 16 & 1)) >> 16);
  }
};

namespace kernel {

/// The type in which kernels compute with elements of type T, and in which they sum: sums,
/// statistics and gradients of parameters have it.
template <class T>
struct WideOf {
  using type = T;
};
template <>
struct WideOf<BFloat16> {
  using type = float;
};
template <class T>
using Wide = typename WideOf<T>::type;

}  // namespace kernel
}  // namespace sinter
