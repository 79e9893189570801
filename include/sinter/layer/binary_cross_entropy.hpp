// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/kernels/binary_cross_entropy.hpp"
#include "sinter/layer/context.hpp"

namespace sinter {

/// y = Σ -(t log p + (1 - t) log(1 - p)) over the width, in nats, where p = logistic(x). The target
/// t is 1 for a class that a row has, 0 for one that it has not, or a probability. The step's
/// loss is the mean over all numbers (BCEWithLogitsLoss of torch.nn). x, the logits, and the
/// target: rows × W, y: rows × 1.
template <int W>
struct BinaryCrossEntropy {
  static constexpr std::array in{W, W};
  static constexpr std::array out{1};
  static constexpr bool loss = true;
  template <class T, class Statistic>
  struct Saved {
    T x, target;
  };
  static constexpr Saved<Keep, Keep> saved{Keep::input(0), Keep::input(1)};

  static void forward(auto& c) {
    kernel::binary_cross_entropy(c.stream(), c.x(0), c.x(1), c.y(), decltype(c.x()){},
                                 decltype(c.x()){}, 0.0);
  }
  static void backward(auto& c) {
    kernel::binary_cross_entropy(c.stream(), c.saved.x, c.saved.target, c.y(), c.dx(0), c.dx(1),
                                 c.loss_weight());
  }
};

}  // namespace sinter
