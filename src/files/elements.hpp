// SPDX-License-Identifier: Apache-2.0
// Elements of one floating-point type, converted to another.
#pragma once
#include <cstddef>

#include "sinter/files/dtype.hpp"

namespace sinter::detail {

/// True for f16, bf16, f32 and f64, which are converted to each other.
constexpr bool is_real(Dtype type) {
  return type == Dtype::f16 || type == Dtype::bf16 || type == Dtype::f32 || type == Dtype::f64;
}

/// Converts elements, rounded to nearest, at any alignment.
/// requires  `as` is_real(), and `from` is that or i64
void convert_elements(Dtype from, const char* source, Dtype as, char* into, std::size_t count);

/// The index of the first finite element that is none as another type; `count` if all are.
/// requires  what convert_elements() requires
std::size_t first_beyond(Dtype from, const char* source, Dtype as, std::size_t count);

}  // namespace sinter::detail
