// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/kernels/swiglu.hpp"
#include "sinter/layer/context.hpp"

namespace sinter {

/// y = silu(gate) up, where silu(z) = z / (1 + exp(-z)) (Shazeer 2020). x: rows × 2 W (gate, then
/// up), y: rows × W. Keeps only x; backward computes the rest again.
template <int W>
struct SwiGlu {
  static constexpr std::array in{2 * W};
  static constexpr std::array out{W};
  static constexpr bool cheap = true;
  template <class T, class Statistic>
  struct Saved {
    T x;
  };
  static constexpr Saved<Keep, Keep> saved{Keep::input()};

  static void forward(auto& c) { kernel::swiglu_forward(c.stream(), c.x(), c.y()); }
  static void backward(auto& c) {
    if (auto dx = c.dx()) kernel::swiglu_backward(c.stream(), c.saved.x, c.dy(), dx);
  }
};

/// y = silu(gate) up of two operands, as SwiGlu. gate, up, y: rows × W. Keeps only gate and up.
template <int W>
struct GatedSilu {
  static constexpr std::array in{W, W};
  static constexpr std::array out{W};
  static constexpr bool cheap = true;
  template <class T, class Statistic>
  struct Saved {
    T gate, up;
  };
  static constexpr Saved<Keep, Keep> saved{Keep::input(0), Keep::input(1)};

  static void forward(auto& c) { kernel::swiglu_forward(c.stream(), c.x(0), c.x(1), c.y()); }
  static void backward(auto& c) {
    kernel::swiglu_backward(c.stream(), c.saved.gate, c.saved.up, c.dy(), c.dx(0), c.dx(1));
  }
};

}  // namespace sinter
