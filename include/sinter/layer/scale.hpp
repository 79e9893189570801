// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/kernels/elementwise.hpp"
#include "sinter/layer/context.hpp"

namespace sinter {

/// y = Factor x, such as the embeddings of tokens, which some models multiply by √W (Vaswani et al.
/// 2017). x, y: rows × W.
template <int W, float Factor>
struct Scale {
  static constexpr std::array in{W};
  static constexpr std::array out{W};
  static constexpr bool cheap = true;

  static void forward(auto& c) { kernel::scale(c.stream(), c.x(), Factor, c.y()); }
  static void backward(auto& c) {
    if (auto dx = c.dx()) kernel::scale(c.stream(), c.dy(), Factor, dx);
  }
};

}  // namespace sinter
