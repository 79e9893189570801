// SPDX-License-Identifier: Apache-2.0
// A BinnedSum as one number, on the host and on a device.
#pragma once
#include "sinter/kernels/norm.hpp"

namespace sinter::kernel {

/// The sum, rounded once, to nearest and of two to the even one. So a factor of all summands that is a power of
/// two changes no bit, as it would by BinnedSum::value(), whose additions round where bins end.
constexpr double rounded(const BinnedSum& sum) {
  constexpr int count = BinnedSum::count, width = BinnedSum::width;
  std::uint64_t whole[std::size_t(count)] = {};
  std::int64_t carry = 0;
  for (int k = 0; k < count; ++k) {
    if (!(sum.bins[k] - sum.bins[k] == 0)) return sum.value();
    carry += std::int64_t(sum.bins[k]);
    const std::int64_t above = k + 1 < count ? carry >> width : 0;
    whole[k] = std::uint64_t(carry - (above << width));
    carry = above;
  }
  if (whole[count - 1] >> width != 0) return sum.value();  // beyond the bins
  int top = count - 1;
  while (top > 2 && whole[top] == 0) --top;
  // The first 64 digits, of which the last says whether any behind it is set.
  std::uint64_t digits = whole[top] << width | whole[top - 1], next = whole[top - 2];
  if ((digits | next) == 0) return 0;
  int exponent = width * (top - 1) + BinnedSum::lowest;
  for (; digits >> 63 == 0; --exponent) {
    next <<= 1;
    digits = digits << 1 | (next >> width & 1);
  }
  bool any = (next & 0xffffffffu) != 0;
  for (int k = 0; k < top - 2; ++k) any = any || whole[k] != 0;
  double value = double(digits | std::uint64_t(any));
  for (; exponent > 0; --exponent) value *= 2;
  for (; exponent < 0; ++exponent) value /= 2;
  return value;
}

}  // namespace sinter::kernel
