// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/kernels/adamw.hpp"
#include "sinter/policy/concepts.hpp"

namespace sinter {

/// Adam (Kingma and Ba 2015) with the arithmetic of torch.optim.Adam: weight decay is added to the
/// gradient. Biases and norms do not decay. The state is two numbers per parameter.
template <AdamOptions O = {}>
struct Adam {
  using slot = slot::optimizer;
  using Options = AdamOptions;
  static constexpr Options options = O;
  static constexpr std::array regions{Region{"exp_avg"}, Region{"exp_avg_sq"}};
  static constexpr bool casts = true;

  static constexpr double learning_rate(const Options& o) { return o.lr; }
  static void update(const Options& o, const auto& s) { kernel::adam(o, s); }
};

}  // namespace sinter
