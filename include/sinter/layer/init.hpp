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

}  // namespace sinter::detail
