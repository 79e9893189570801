// SPDX-License-Identifier: Apache-2.0
// The type of an element as a value, for plans and files, which do not know the C++ type.
#pragma once
#include <cstdint>

namespace sinter {

struct BFloat16;  // bfloat16.hpp
struct Float16;   // float16.hpp

/// The type of an element as a value, for code that does not know the C++ type. A precision policy
/// with a type of its own specialises element_of.
enum class Element : std::uint8_t { f32, f64, f16, bf16, i32, u8 };
namespace detail {
/// The size of an element in bytes.
constexpr int bytes_of(Element element) {
  constexpr int bytes[]{4, 8, 2, 2, 4, 1};
  return bytes[int(element)];
}
}  // namespace detail
/// The element of the C++ type T.
template <class T>
inline constexpr Element element_of = T::element;
template <>
inline constexpr Element element_of<float> = Element::f32;  ///< for float
template <>
inline constexpr Element element_of<double> = Element::f64;  ///< for double
template <>
inline constexpr Element element_of<Float16> = Element::f16;  ///< for halves
template <>
inline constexpr Element element_of<BFloat16> = Element::bf16;  ///< for bfloat16
template <>
inline constexpr Element element_of<std::int32_t> = Element::i32;
template <>
inline constexpr Element element_of<std::uint8_t> = Element::u8;

}  // namespace sinter
