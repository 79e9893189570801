// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/kernels/optimizer.hpp"

namespace sinter {

struct LionOptions {
  double lr = 1e-4;     ///< learning rate before the schedule
  double beta1 = 0.9;   ///< weight of the average in a step's direction; the gradient has the rest
  double beta2 = 0.99;  ///< decay rate of the average
  double weight_decay = 0;  ///< decoupled; matrices only
  SINTER_FIELDS((lr).at_least(0).adjustable(), (beta1).at_least(0).below(1).adjustable(),
                (beta2).at_least(0).below(1).adjustable(), (weight_decay).at_least(0).adjustable())
};

}  // namespace sinter

namespace sinter::kernel {

/// Lion (Chen et al. 2023), with m in span.state[0]:
///   u = sign(beta1 m + (1 - beta1) g), sign(0) = 0
///   p *= 1 - lr weight_decay; p -= lr u; m = beta2 m + (1 - beta2) g; copy = p, rounded
template <class M, class G, class S, class C>
void lion(const LionOptions& options, const ParameterSpan<M, G, S, C>& span);

/// Updates one parameter by the formula of Lion.
inline void update_one(const LionOptions& options, OneParameter& p) {
  double& m = p.state[0];
  const double u = options.beta1 * m + (1 - options.beta1) * p.gradient;
  p.value -= p.learning_rate * (p.weight_decay * p.value + double(u > 0) - double(u < 0));
  m = options.beta2 * m + (1 - options.beta2) * p.gradient;
}

}  // namespace sinter::kernel
