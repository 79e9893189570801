// SPDX-License-Identifier: Apache-2.0
#include "sinter/kernels/sgd.hpp"

#include "kernels/cuda/optimizer.hpp"

namespace sinter::kernel {
namespace {

template <class M, class G, class S, class C, class T = Wide<M>>
__global__ void sgd_elements(OptimizerArrays<M, G, S, C> a,
                             Argument<OptimizerStep<SgdOptions>> argument) {
  const auto& step = *argument;
  const Gradients<T> gradients(step.decision);
  const T decay = T(step.weight_decay), rate = T(-step.lr), inertia = T(step.options.momentum);
  const bool first = step.number == 1, nesterov = step.options.nesterov;
  S* const momentum = a.state[0];
  for_each_element(a.size, [=](std::int64_t i) {
    const T p = T(a.master[i]);
    T g = fused(p, decay, gradients(a.gradient[i]));
    if (momentum) {
      const T b = first ? g : fused(T(momentum[i]), inertia, g);
      momentum[i] = S(b);
      g = nesterov ? fused(b, inertia, g) : b;
    }
    store_weights(fused(g, rate, p), a, i);
  });
}

}  // namespace

SINTER_OPTIMIZER(sgd, SgdOptions, OptimizerStep)

}  // namespace sinter::kernel
