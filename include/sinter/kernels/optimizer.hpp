// SPDX-License-Identifier: Apache-2.0
// Optimizer updates of flat arrays, in one pass and in place. Constants are computed in double and
// rounded once; the order of the arithmetic is PyTorch's, so that trajectories can be compared.
//
// M is the type of master weights, G of gradients, S of state, C of a rounded copy of the new
// weights, which layers compute with. (M, G, S, C) is all float, all double, all float but C =
// BFloat16 or Float16, all float but G = C = Float16, or all Float16 but S = float.
// The arithmetic is that of Wide<M>. All arrays have n elements; copy may be null.
//
// Every gradient is first multiplied by decision->scale (clipping by norm, the inverse of a loss
// scale), then clamped to ±decision->limit (torch.nn.utils.clip_grad_value_). A NaN gradient makes
// its parameter NaN. Without a decision, gradients are used unchanged.
//
// Errors of one step, with ε the epsilon of Wide<M> and g the gradient times decision->scale:
//   adamw  m: 2 ε (|m| + |g|), v: 4 ε v, p: 2 ε |p| and the effect of an error of 4 ε (|m| + |g|)
//          in m on the change of p
//   sgd    b: 2 ε (weight_decay |p| + momentum |b| + |g|) = 2 ε B, p: 2 ε (|p| + lr B)
#pragma once
#include <cstdint>

#include "sinter/base/bfloat16.hpp"
#include "sinter/base/float16.hpp"
#include "sinter/hardware/stream.hpp"
#include "sinter/kernels/decision.hpp"

namespace sinter::kernel {

/// Constants of one step of adamw().
struct AdamWStep {
  double lr, beta1, beta2, eps, weight_decay;  ///< as in torch.optim.AdamW
  double correction1, correction2;             ///< 1 - beta1^t and 1 - beta2^t, t counted from 1
  const Decision* decision = nullptr;          ///< in the device's memory
  bool coupled = false;  ///< true if decay is part of the gradient (L2), not of the update
};

/// AdamW (Loshchilov & Hutter 2019) as in torch.optim.AdamW:
///   p *= 1 - lr weight_decay; m += (1 - beta1) (g - m); v = beta2 v + (1 - beta2) g²
///   p -= lr / correction1 · m / (√v / √correction2 + eps); copy = p, rounded
/// With `coupled`, g += weight_decay p replaces the first of these, as in torch.optim.Adam (Kingma
/// & Ba 2015).
template <class M, class G, class S, class C>
void adamw(Stream& stream, M* master, const G* gradient, S* mean, S* square, C* copy,
           std::int64_t n, const AdamWStep& step);

/// Constants of one step of sgd().
struct SgdStep {
  double lr, momentum, weight_decay;  ///< as in torch.optim.SGD
  bool first;  ///< true in the first step, which sets the momentum buffer without reading it
  const Decision* decision = nullptr;  ///< in the device's memory
  bool nesterov = false;               ///< as in torch.optim.SGD
};

/// SGD as in torch.optim.SGD:
///   g += weight_decay p; b = momentum b + g, in the first step b = g
///   p -= lr b, or with `nesterov` p -= lr (g + momentum b); copy = p, rounded
/// momentum is null where step.momentum is 0; then p -= lr g.
template <class M, class G, class S, class C>
void sgd(Stream& stream, M* master, const G* gradient, S* momentum, C* copy, std::int64_t n,
         const SgdStep& step);

/// Constants of one step of lion().
struct LionStep {
  double lr, beta1, beta2, weight_decay;  ///< see Lion
  const Decision* decision = nullptr;     ///< in the device's memory
};

/// Lion (Chen et al. 2023):
///   u = sign(beta1 m + (1 - beta1) g), sign(0) = 0
///   p *= 1 - lr weight_decay; p -= lr u; m = beta2 m + (1 - beta2) g; copy = p, rounded
template <class M, class G, class S, class C>
void lion(Stream& stream, M* master, const G* gradient, S* mean, C* copy, std::int64_t n,
          const LionStep& step);

}  // namespace sinter::kernel
