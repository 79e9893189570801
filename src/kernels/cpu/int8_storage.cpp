// SPDX-License-Identifier: Apache-2.0
// How values become int8, and back. Loading does it on the host, whatever device computes.
#include <algorithm>
#include <cmath>

#include "sinter/kernels/int8.hpp"

namespace sinter::kernel {
namespace {

constexpr int largest = 127, shift = 128;
constexpr float zeros[128]{};  // of the largest group

/// The largest magnitude of n numbers that are `step` apart; NaN if one is not finite.
float magnitude(const float* x, int n, int step) {
  float most = 0, zero = 0;
  for (int k = 0; k < n; ++k) {
    most = std::max(most, std::abs(x[std::int64_t(k) * step]));
    zero += x[std::int64_t(k) * step] * 0;
  }
  return most + zero;
}

/// A number in [-127, 127] steps. x: the number of steps, perhaps NaN.
int nearest(float x) {
  if (std::isnan(x)) return 0;
  const float within = std::min(std::max(x, -float(largest)), float(largest));
  return int(within + (within < 0 ? -0.5f : 0.5f));
}

/// Stores group g of row r. Its numbers are `step` apart.
void pack(const float* values, int step, int r, int g, const Int8Matrix<std::byte>& to) {
  std::byte* const at = to.at(r, g);
  const int lane = r % int8_tile;
  const float exact = magnitude(values, to.group, step) / largest;
  const Float16 scale(std::isinf(float(Float16(exact))) ? std::nanf("") : exact);
  reinterpret_cast<Float16*>(at)[lane] = scale;
  const float inverse = float(scale) > 0 ? 1 / float(scale) : 0;
  auto* const numbers = reinterpret_cast<std::uint8_t*>(at + 2 * int8_tile) + 4 * lane;
  for (int k = 0; k < to.group; ++k)
    numbers[k / 4 * 4 * int8_tile + k % 4] =
        std::uint8_t(nearest(values[std::int64_t(k) * step] * inverse) + shift);
}

/// Makes the rows that the last tile lacks zeros.
void clear_rest(int g, const Int8Matrix<std::byte>& to) {
  for (int r = to.rows; r % int8_tile != 0; ++r) pack(zeros, 1, r, g, to);
}

}  // namespace

void pack_int8_rows(const float* values, int first, int count, Int8Matrix<std::byte> to) {
  for (int r = first; r < first + count; ++r)
    for (int g = 0; g < to.groups(); ++g, values += to.group) pack(values, 1, r, g, to);
  if (first + count == to.rows)
    for (int g = 0; g < to.groups(); ++g) clear_rest(g, to);
}

void pack_int8_columns(const float* values, int g, Int8Matrix<std::byte> to) {
  for (int r = 0; r < to.rows; ++r) pack(values + r, to.rows, r, g, to);
  clear_rest(g, to);
}

void unpack_int8_rows(Int8Matrix<const std::byte> from, int first, int count, float* values) {
  for (int r = first; r < first + count; ++r)
    for (int c = 0; c < from.columns; ++c) *values++ = int8_value(from, r, c);
}

}  // namespace sinter::kernel
