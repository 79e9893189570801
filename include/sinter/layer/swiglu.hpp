// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/kernels/swiglu.hpp"
#include "sinter/layer/context.hpp"

namespace sinter {

/// y = silu(gate) up, where silu(z) = z / (1 + exp(-z)) (Shazeer 2020). x: rows × 2 W (gate, then
/// up), y: rows × W. Keeps x alone; backward computes the rest again.
template <int W>
struct SwiGlu {
  static constexpr std::array in{2 * W};
  static constexpr std::array out{W};
  static constexpr bool cheap = true;
  template <class T, class Statistic>
  struct Saved {
    T x;
  };
  static constexpr Saved<Keep, Keep> saved{input()};

  static void forward(auto& c) { kernel::swiglu_forward(c.stream(), c.x(), c.y()); }
  static void backward(auto& c) {
    if (auto dx = c.dx()) kernel::swiglu_backward(c.stream(), c.saved.x, c.dy(), dx);
  }
};

}  // namespace sinter
