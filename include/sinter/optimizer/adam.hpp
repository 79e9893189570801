// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/optimizer/adamw.hpp"
#include "sinter/policy/concepts.hpp"

namespace sinter {

/// Options of Adam, with the ranges of AdamWOptions.
struct AdamOptions {
  double lr = 1e-3;         ///< learning rate before the schedule
  double beta1 = 0.9;       ///< decay rate of the first moment
  double beta2 = 0.999;     ///< decay rate of the second moment
  double eps = 1e-8;        ///< added to the root of the second moment
  double weight_decay = 0;  ///< times the parameter, added to the gradient
  SINTER_FIELDS((lr).at_least(0).adjustable(), (beta1).at_least(0).below(1).adjustable(),
                (beta2).at_least(0).below(1).adjustable(), (eps).above(0).adjustable(),
                (weight_decay).at_least(0).adjustable())
};

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
  static void update(const Options& o, const auto& s) {
    kernel::AdamWStep step = detail::adamw_step(o, s);
    step.coupled = true;
    kernel::adamw(s.stream, s.master, s.gradient, s.state[0].data, s.state[1].data, s.copy, s.size,
                  step);
  }
};

}  // namespace sinter
