// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/kernels/optimizer.hpp"
#include "sinter/policy/concepts.hpp"

namespace sinter {

struct LionOptions {
  double lr = 1e-4;     ///< learning rate before the schedule
  double beta1 = 0.9;   ///< weight of the average in a step's direction; the gradient has the rest
  double beta2 = 0.99;  ///< decay rate of the average
  double weight_decay = 0;  ///< decoupled; matrices only
  SINTER_FIELDS((lr).at_least(0).adjustable(), (beta1).at_least(0).below(1).adjustable(),
                (beta2).at_least(0).below(1).adjustable(), (weight_decay).at_least(0).adjustable())
};

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
  static void update(const Options& o, const auto& s) {
    kernel::LionStep step;
    step.lr = s.learning_rate;
    step.beta1 = o.beta1;
    step.beta2 = o.beta2;
    step.weight_decay = s.decayed ? o.weight_decay : 0;
    step.decision = s.decision;
    kernel::lion(s.stream, s.master, s.gradient, s.state[0].data, s.copy, s.size, step);
  }
};

}  // namespace sinter
