// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/kernels/lion.hpp"
#include "sinter/policy/concepts.hpp"

namespace sinter {

/// Lion (Chen et al. 2023): every parameter moves by the learning rate, against the sign of an
/// average of gradients. Decay is decoupled; biases and norms do not decay. The state is one number
/// per parameter.
template <LionOptions O = {}>
struct Lion {
  using slot = slot::optimizer;
  using Options = LionOptions;
  static constexpr Options options = O;
  static constexpr Offer offered{"Lion<>"};
  static constexpr std::array regions{Region{"exp_avg"}};
  static constexpr bool casts = true;

  static constexpr double learning_rate(const Options& o) { return o.lr; }
  static void update(const Options& o, const auto& s) { kernel::lion(o, s); }
};

}  // namespace sinter
