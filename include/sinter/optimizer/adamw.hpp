// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cmath>

#include "sinter/kernels/optimizer.hpp"
#include "sinter/policy/concepts.hpp"

namespace sinter {

/// Options of AdamW, with torch.optim.AdamW's ranges, except that eps must not be 0: a parameter
/// with gradient 0 would become 0 / 0.
struct AdamWOptions {
  double lr = 1e-3;            ///< learning rate before the schedule
  double beta1 = 0.9;          ///< decay rate of the first moment
  double beta2 = 0.999;        ///< decay rate of the second moment
  double eps = 1e-8;           ///< added to the root of the second moment
  double weight_decay = 0.01;  ///< decoupled: a step subtracts lr × weight_decay × parameter
  SINTER_FIELDS((lr).at_least(0).adjustable(), (beta1).at_least(0).below(1).adjustable(),
                (beta2).at_least(0).below(1).adjustable(), (eps).above(0).adjustable(),
                (weight_decay).at_least(0).adjustable())
};

namespace detail {
/// The constants of one step of Adam for the stretch s. The options o have AdamWOptions' names.
kernel::AdamWStep adamw_step(const auto& o, const auto& s) {
  kernel::AdamWStep step;
  step.lr = s.learning_rate;
  step.beta1 = o.beta1;
  step.beta2 = o.beta2;
  step.eps = o.eps;
  step.weight_decay = s.decayed ? o.weight_decay : 0;
  step.decision = s.decision;
  step.correction1 = 1 - std::pow(o.beta1, double(s.step));
  step.correction2 = 1 - std::pow(o.beta2, double(s.step));
  return step;
}
}  // namespace detail

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
  static void update(const Options& o, const auto& s) {
    kernel::adamw(s.stream, s.master, s.gradient, s.state[0].data, s.state[1].data, s.copy, s.size,
                  detail::adamw_step(o, s));
  }
};

}  // namespace sinter
