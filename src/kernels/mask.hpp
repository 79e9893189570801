// SPDX-License-Identifier: Apache-2.0
// What decides a dropout mask, for the kernels of all devices.
#pragma once
#include <cmath>
#include <cstdint>

#include "sinter/kernels/dropout.hpp"
#include "sinter/kernels/random.hpp"

namespace sinter::kernel {

/// The key of one row's mask.
constexpr std::uint64_t row_key(const Dropout& dropout, std::int64_t row) {
  return mix(dropout.key ^ mix(std::uint64_t(dropout.first_row + row)));
}

/// An element is kept where 32 random bits, taken as a signed number, reach this.
inline std::int32_t keep_threshold(const Dropout& dropout) {
  return std::int32_t(std::llround(double(dropout.probability) * 0x1p32) - 0x80000000LL);
}

/// What kept elements are multiplied by.
inline double keep_scale(const Dropout& dropout) { return 1 / (1 - double(dropout.probability)); }

/// Attention's dropout with the mask's key for one head.
constexpr Dropout for_head(Dropout dropout, int head) {
  dropout.key = mix(dropout.key ^ (std::uint64_t(head) + 1) * mix_step);
  return dropout;
}

}  // namespace sinter::kernel
