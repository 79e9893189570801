// SPDX-License-Identifier: Apache-2.0
// A layer of this project: its formula and its gradient, written by hand.
#pragma once
#include <cmath>
#include <sinter/sinter.hpp>

namespace my_project {

/// y = x / (1 + exp(-x)) (Ramachandran et al. 2017).   x, y: rows × W.
template <int W>
struct Swish {
  static constexpr std::array in{W};
  static constexpr std::array out{W};
  static constexpr bool cheap = true;  // Checkpoint<{.policy = selective}> may recompute it
  template <class T, class Statistic>
  struct Saved {
    T x;
  };
  static constexpr Saved<sinter::Keep, sinter::Keep> saved{sinter::Keep::input()};

  static void forward(auto& c) {
    auto x = c.x(), y = c.y();
    for (int r = 0; r < x.rows; ++r)
      for (int i = 0; i < W; ++i) y.put(r, i, x(r, i) * sigmoid(x(r, i)));
  }
  static void backward(auto& c) {
    auto x = c.saved.x, dy = c.dy(), dx = c.dx();
    if (!dx) return;  // not needed: nothing before this layer is trained
    for (int r = 0; r < x.rows; ++r)
      for (int i = 0; i < W; ++i) {
        auto s = sigmoid(x(r, i));
        dx.put(r, i, dy(r, i) * (s + x(r, i) * s * (1 - s)));
      }
  }

 private:
  static auto sigmoid(auto v) { return 1 / (1 + std::exp(-v)); }
};

}  // namespace my_project
