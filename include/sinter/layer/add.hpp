#pragma once
#include "sinter/kernels/elementwise.hpp"
#include "sinter/layer/context.hpp"

namespace sinter {

/// y = a + b.   a, b, y: rows × W.
template <int W>
struct Add {
  static constexpr std::array in{W, W};
  static constexpr std::array out{W};
  static constexpr bool cheap = true;

  static void forward(auto& c) {
    auto a = c.x(0);
    kernel::add(c.stream(), a.data, c.x(1).data, c.y().data, a.size());
  }
  static void backward(auto& c) {
    auto dy = c.dy();
    for (int k : {0, 1}) {
      auto dx = c.dx(k);
      if (dx && dx.add) kernel::accumulate(c.stream(), dy.data, dx.data, dy.size());
      if (dx && !dx.add) kernel::copy(c.stream(), dy.data, dx.data, dy.size());
    }
  }
};

}  // namespace sinter
