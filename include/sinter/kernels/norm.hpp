// SPDX-License-Identifier: Apache-2.0
// Sums over flat arrays, accumulated in double over fixed blocks that are combined in order: the
// bits are the same for every number of threads. NaN and infinity propagate. Error ≤ 16 ε Σ x² or
// 16 ε Σ|x|, ε the epsilon of double: no sum has more than 1024 summands, up to n = 2³⁰ (if
// roundings behave as if random, Higham & Mary 2019). `result` points to device memory, which is
// assigned, or added to.
#pragma once
#include <cstddef>
#include <cstdint>

#include "sinter/hardware/stream.hpp"

namespace sinter::kernel {

/// A sum of numbers ≥ 0 that has the same bits for every order and partition of the summands, also
/// over several ranks. Numbers are cut at fixed places into integers, which add exactly (a
/// superaccumulator, Neal 2015). Bin k counts in units of 2^(32 k - 320). To add sums, add their
/// bins as doubles, which is exact for up to 2^20 sums. Parts of a summand below 2^-320 are rounded
/// away, and a summand from 2^320 on counts as infinity.
struct BinnedSum {
  static constexpr int count = 20;       ///< number of bins
  static constexpr int width = 32;       ///< bits of a bin
  static constexpr int lowest = -320;    ///< the exponent of the unit of bin 0
  double bins[std::size_t(count)] = {};  ///< integers; if one is not finite, the sum is not either

  /// The sum, rounded once to nearest, ties to even. Scaling all summands by a power of two
  /// therefore scales it exactly.
  constexpr double value() const {
    std::uint64_t digits[std::size_t(count) + 1] = {};  // to the base of 2^width
    std::int64_t carry = 0;
    double all = 0;
    for (int k = 0; k <= count; ++k) {
      const double bin = k < count ? bins[k] : 0;
      all += bin;
      if (!(bin - bin == 0)) continue;
      carry += std::int64_t(bin);
      digits[k] = std::uint64_t(carry & ((std::int64_t(1) << width) - 1));
      carry >>= width;
    }
    return all - all == 0 ? rounded(digits) : all;
  }

 private:
  static constexpr double rounded(const std::uint64_t (&digits)[std::size_t(count) + 1]) {
    int top = count;
    while (top > 2 && digits[top] == 0) --top;
    // The first 64 bits; the last is also set if any bit behind it is.
    std::uint64_t bits = digits[top] << width | digits[top - 1], next = digits[top - 2];
    if ((bits | next) == 0) return 0;
    int exponent = width * (top - 1) + lowest;
    for (; bits >> 63 == 0; --exponent) {
      next <<= 1;
      bits = bits << 1 | (next >> width & 1);
    }
    bool any = (next & 0xffffffffu) != 0;
    for (int k = 0; k < top - 2; ++k) any = any || digits[k] != 0;
    double value = double(bits | std::uint64_t(any));
    for (; exponent > 0; --exponent) value *= 2;
    for (; exponent < 0; ++exponent) value /= 2;
    return value;
  }
};
static_assert(-BinnedSum::lowest % BinnedSum::width == 0);

/// Adds all x[i]² to *sum. The squares of 16 consecutive elements are added in double, in a fixed
/// order, and the results exactly (BinnedSum). The bits are therefore the same wherever an array is
/// cut between such groups, and however it is padded with zeros. Error ≤ 8 ε of the sum.
template <class T>
void add_squares(Stream& stream, const T* x, std::int64_t n, BinnedSum* sum);

/// *result = Σ x[i]², or += with `add`.
template <class T>
void sum_of_squares(Stream& stream, const T* x, std::int64_t n, double* result, bool add = false);

/// *result = Σ x[i], or += with `add`.
template <class T>
void sum(Stream& stream, const T* x, std::int64_t n, double* result, bool add = false);

/// x[i] *= 1 / max(√Σ x[i]², least), the factor rounded to T. T: float or double.
template <class T>
void scale_to_unit_norm(Stream& stream, T* x, std::int64_t n, double least);

}  // namespace sinter::kernel
