// Optimizer updates of flat arrays, one pass, in place. Constants are computed in double and
// rounded to T once; the order of the arithmetic is PyTorch's, so trajectories can be compared.
//
// Errors of one step, with ε the epsilon of Wide<T> and g the gradient times its scale:
//   adamw  m: 2 ε (|m| + |g|), v: 4 ε v, p: 2 ε |p| and what 4 ε (|m| + |g|) in place of m makes of
//          its change
//   sgd    b: 2 ε (weight_decay |p| + momentum |b| + |g|) = 2 ε B, p: 2 ε (|p| + lr B)
#pragma once
#include <cstdint>

#include "bfloat16.hpp"
#include "stream.hpp"

namespace sinter::kernel {

struct AdamWStep {
  double lr, beta1, beta2, eps, weight_decay;
  double gradient_scale;            ///< multiplies every gradient: clipping
  double correction1, correction2;  ///< 1 - beta1^t and 1 - beta2^t, t counted from 1
};

/// AdamW (Loshchilov & Hutter 2019) as torch.optim.AdamW does it:
/// p *= 1 - lr weight_decay; m += (1 - beta1) (g - m); v = beta2 v + (1 - beta2) g²;
/// p -= lr / correction1 · m / (√v / √correction2 + eps); copy = p, rounded.   All arrays: n
/// elements. copy: may be null. T: float, double or BFloat16.
template <class T>
void adamw(Stream& stream, Wide<T>* master, const Wide<T>* gradient, Wide<T>* mean, Wide<T>* square,
           T* copy, std::int64_t n, const AdamWStep& step);

struct SgdStep {
  double lr, momentum, weight_decay;
  double gradient_scale;  ///< multiplies every gradient: clipping
  bool first;             ///< the first step: the momentum buffer is set, not read
};

/// torch.optim.SGD: g += weight_decay p; b = momentum b + g (first step: b = g); p -= lr b.
/// momentum: n elements, null where step.momentum is 0 (then p -= lr g). copy, T: as above.
template <class T>
void sgd(Stream& stream, Wide<T>* master, const Wide<T>* gradient, Wide<T>* momentum, T* copy,
         std::int64_t n, const SgdStep& step);

}  // namespace sinter::kernel
