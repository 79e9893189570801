// SPDX-License-Identifier: Apache-2.0
// Arithmetic for initial values, at compile time.
#pragma once

namespace sinter::detail {

/// √x for x > 0, to double precision (Newton's iteration; std::sqrt is not constexpr).
constexpr double square_root(double x) {
  double root = x > 1 ? x : 1;
  for (int i = 0; i < 200; ++i) {
    double next = (root + x / root) / 2;
    if (next >= root) break;
    root = next;
  }
  return root;
}

/// √x for a whole x > 0, rounded as std::sqrt rounds it: square_root() may be off by the last
/// bit. The square of the root is formed exactly, in two parts (Dekker 1971), and its error taken
/// back.
/// (Only at compile time, where no compiler fuses a product with a sum.)
consteval double rounded_square_root(double x) {
  const double root = square_root(x), wide = root * 0x1p27 + root;
  const double high = wide - (wide - root), low = root - high, square = root * root;
  const double lost = ((high * high - square) + 2 * high * low) + low * low;
  return root - ((square - x) + lost) / (2 * root);
}

}  // namespace sinter::detail
