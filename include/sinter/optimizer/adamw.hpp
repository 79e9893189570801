// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/kernels/adamw.hpp"
#include "sinter/policy/concepts.hpp"

namespace sinter {

/// Adam with decoupled weight decay (Loshchilov and Hutter 2019), with the arithmetic of
/// torch.optim.AdamW. Biases and norms do not decay. The state is two numbers per parameter.
template <AdamWOptions O = {}>
struct AdamW {
  using slot = slot::optimizer;
  using Options = AdamWOptions;
  static constexpr Options options = O;
  static constexpr std::array regions{Region{"exp_avg"}, Region{"exp_avg_sq"}};
  static constexpr bool casts = true;

  static constexpr double learning_rate(const Options& o) { return o.lr; }
  static void update(const Options& o, const auto& s) { kernel::adamw(o, s); }
};

}  // namespace sinter
