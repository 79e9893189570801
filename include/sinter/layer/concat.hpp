// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/kernels/columns.hpp"
#include "sinter/layer/context.hpp"

namespace sinter {

/// y = the operands side by side, such as query, key and value for attention. Operand i: rows ×
/// Widths[i], y: rows × the sum of Widths.
template <int... Widths>
struct Concat {
  static constexpr std::array in{Widths...};
  static constexpr std::array out{(Widths + ...)};
  static constexpr bool cheap = true;

  static void forward(auto& c) {
    each([&](int i, int first) { kernel::put_columns(c.stream(), c.x(i), c.y(), first); });
  }
  static void backward(auto& c) {
    each([&](int i, int first) {
      if (auto dx = c.dx(i)) kernel::take_columns(c.stream(), c.dy(), first, dx);
    });
  }

 private:
  /// Calls visit with each operand's number and its first column in y.
  static void each(auto visit) {
    for (int i = 0, first = 0; i < int(in.size()); first += in[i], ++i) visit(i, first);
  }
};

}  // namespace sinter
