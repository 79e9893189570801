// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cmath>

#include "sinter/kernels/optimizer.hpp"

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

}  // namespace sinter

namespace sinter::kernel {

/// AdamW (Loshchilov & Hutter 2019) as in torch.optim.AdamW, with m in span.state[0], v in
/// span.state[1] and a correction of 1 - beta^t in step t:
///   p *= 1 - lr weight_decay; m += (1 - beta1) (g - m); v = beta2 v + (1 - beta2) g²
///   p -= lr / correction1 · m / (√v / √correction2 + eps); copy = p, rounded
///
/// Errors of one step, with ε the epsilon of Wide<M> and g the gradient times decision->scale:
///   m: 2 ε (|m| + |g|), v: 4 ε v, p: 2 ε |p| and the effect of an error of 4 ε (|m| + |g|) in m on
///   the change of p
template <class M, class G, class S, class C>
void adamw(const AdamWOptions& options, const ParameterSpan<M, G, S, C>& span);

/// Adam (Kingma & Ba 2015) as in torch.optim.Adam: adamw() with g += weight_decay p in place of the
/// first of its steps.
template <class M, class G, class S, class C>
void adam(const AdamOptions& options, const ParameterSpan<M, G, S, C>& span);

/// The formula of Adam's moments, and of the change that they make.
inline void update_by_moments(const auto& options, OneParameter& p) {
  const double beta1 = options.beta1, beta2 = options.beta2, t = double(p.step);
  double &m = p.state[0], &v = p.state[1];
  m = beta1 * m + (1 - beta1) * p.gradient;
  v = beta2 * v + (1 - beta2) * p.gradient * p.gradient;
  const double root = std::sqrt(v / (1 - std::pow(beta2, t)));
  p.value -= p.learning_rate * m / (1 - std::pow(beta1, t)) / (root + options.eps);
}
/// Updates one parameter by the formula of AdamW.
inline void update_one(const AdamWOptions& options, OneParameter& p) {
  p.value -= p.learning_rate * p.weight_decay * p.value;
  update_by_moments(options, p);
}
/// Updates one parameter by the formula of Adam.
inline void update_one(const AdamOptions& options, OneParameter& p) {
  p.gradient += p.weight_decay * p.value;
  update_by_moments(options, p);
}

}  // namespace sinter::kernel
