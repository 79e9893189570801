// SPDX-License-Identifier: Apache-2.0
#include "sinter/kernels/lion.hpp"

#include "kernels/cuda/optimizer.hpp"

namespace sinter::kernel {
namespace {

/// 1, -1, or x itself where it is 0 or not a number.
template <class T>
__device__ T sign(T x) {
  return x > 0 ? T(1) : x < 0 ? T(-1) : x;
}

template <class M, class G, class S, class C, class T = Wide<M>>
__global__ void lion_elements(OptimizerArrays<M, G, S, C> a,
                              Argument<OptimizerStep<LionOptions>> argument) {
  const auto& step = *argument;
  const Gradients<T> gradients(step.decision);
  const LionOptions& o = step.options;
  const T decay = T(1 - step.lr * step.weight_decay), rate = T(-step.lr);
  const T beta1 = T(o.beta1), rest1 = T(1 - o.beta1);
  const T beta2 = T(o.beta2), rest2 = T(1 - o.beta2);
  for_each_element(a.size, [=](std::int64_t i) {
    const T g = gradients(a.gradient[i]), m = T(a.state[0][i]);
    const T mixed = fused(m, beta1, g * rest1);
    store_weights(fused(sign(mixed), rate, T(a.master[i]) * decay), a, i);
    a.state[0][i] = S(fused(m, beta2, g * rest2));
  });
}

}  // namespace

SINTER_OPTIMIZER(lion, LionOptions, OptimizerStep)

}  // namespace sinter::kernel
