// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <concepts>

#include "sinter/kernels/elementwise.hpp"
#include "sinter/layer/context.hpp"

namespace sinter {

/// y = Factor x, such as the embeddings of tokens, which some models multiply by √W (Vaswani et al.
/// 2017). The factor, a float or double, is rounded once, to the type in which kernels compute. x,
/// y: rows × W.
template <int W, std::floating_point auto Factor>
struct Scale {
  static constexpr std::array in{W};
  static constexpr std::array out{W};
  static constexpr bool cheap = true;

  static void forward(auto& c) { scale(c, c.x(), c.y()); }
  static void backward(auto& c) {
    if (auto dx = c.dx()) scale(c, c.dy(), dx);
  }

 private:
  template <class T>
  static void scale(auto& c, kernel::Input<T> from, Tensor<T> to) {
    kernel::scale(c.stream(), from, kernel::Wide<T>(Factor), to);
  }
};

}  // namespace sinter
