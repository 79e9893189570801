// SPDX-License-Identifier: Apache-2.0
// Sums over flat arrays, accumulated in double over fixed blocks that are combined in order: the
// bits are the same for every number of threads. NaN and infinity propagate. Error ≤ 16 ε Σ x² or
// 16 ε Σ|x|, ε the epsilon of double: no sum has more than 1024 summands, up to n = 2³⁰ (roundings
// are as good as random, Higham & Mary 2019). `result` is a place in the device's memory, which is
// assigned, or added to.
#pragma once
#include <cstddef>
#include <cstdint>

#include "sinter/hardware/stream.hpp"

namespace sinter::kernel {

/// A sum of numbers ≥ 0 that has the same bits in whatever order and parts they are added, be it by several
/// ranks: numbers are cut at places that do not depend on them, and integers add up exactly (a
/// superaccumulator, Neal 2015). Bin k counts in units of 2^(32 k - 320). The sum of several has in each bin
/// the sum of theirs, by doubles, which is exact for up to 2^20 of them. What is below 2^-320 in a summand is
/// rounded away, and a summand from 2^320 on counts as infinity.
struct BinnedSum {
  static constexpr int count = 20;       ///< of the bins
  static constexpr int width = 32;       ///< of a bin, in bits
  static constexpr int lowest = -320;    ///< the exponent of the unit of bin 0
  double bins[std::size_t(count)] = {};  ///< integers; one that is not finite makes the sum so

  /// The sum, rounded once, to nearest and of two to the even one. So a factor of all summands that is a power
  /// of two changes no bit of it.
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
    // The first 64 bits, of which the last says whether any behind it is set.
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

/// Adds all x[i]² to a sum: those of 16 elements that follow each other are added in a fixed order in double,
/// and these as BinnedSum says. So the bits are the same wherever an array is cut between such groups, and
/// however it is filled up with zeros. Error: ≤ 8 ε of the sum.
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
