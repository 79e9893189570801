// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/kernels/optimizer.hpp"

namespace sinter {

struct SgdOptions {
  double lr = 1e-2;         ///< learning rate before the schedule
  double momentum = 0;      ///< decay rate of the average of gradients
  double weight_decay = 0;  ///< times the parameter, added to the gradient; matrices only
  /// True if a step follows gradient + momentum × average instead of the average.
  bool nesterov = false;
  SINTER_FIELDS((lr).at_least(0).adjustable(), (momentum).at_least(0).below(1),
                (weight_decay).at_least(0).adjustable(), (nesterov))
};

}  // namespace sinter

namespace sinter::kernel {

/// SGD as in torch.optim.SGD, with b in span.state[0]:
///   g += weight_decay p; b = momentum b + g, in the first step b = g
///   p -= lr b, or with `nesterov` p -= lr (g + momentum b); copy = p, rounded
/// The first step does not read b. Without b, whose data is null where momentum is 0, p -= lr g.
///
/// Errors of one step, with ε the epsilon of Wide<M> and g the gradient times decision->scale:
///   b: 2 ε (weight_decay |p| + momentum |b| + |g|) = 2 ε B, p: 2 ε (|p| + lr B)
template <class M, class G, class S, class C>
void sgd(const SgdOptions& options, const ParameterSpan<M, G, S, C>& span);

/// Updates one parameter by the formula of SGD.
inline void update_one(const SgdOptions& options, OneParameter& p) {
  const double g = p.gradient + p.weight_decay * p.value;
  double& b = p.state[0];
  b = options.momentum * b + g;
  p.value -= p.learning_rate * (options.nesterov ? g + options.momentum * b : b);
}

}  // namespace sinter::kernel
