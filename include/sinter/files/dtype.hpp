// SPDX-License-Identifier: Apache-2.0
// The element types of safetensors.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace sinter::detail {

/// The element types that safetensors knows; dtype_bits() gives their widths.
enum class Dtype : std::uint8_t {
  boolean,
  f4,
  f6_e2m3,
  f6_e3m2,
  u8,
  i8,
  f8_e5m2,
  f8_e4m3,
  f8_e8m0,
  f8_e4m3fnuz,
  f8_e5m2fnuz,
  i16,
  u16,
  f16,
  bf16,
  i32,
  u32,
  f32,
  c64,
  f64,
  i64,
  u64
};

/// The type's name in a file, such as "F32". (C64 is a complex number of two F32.)
std::string_view dtype_name(Dtype dtype);
/// The type of this name, if there is one.
std::optional<Dtype> dtype_of(std::string_view name);
/// The width of an element in bits.
std::uint64_t dtype_bits(Dtype dtype);

}  // namespace sinter::detail
