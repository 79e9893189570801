// SPDX-License-Identifier: Apache-2.0
#include "sinter/kernels/adamw.hpp"

#include "kernels/cuda/optimizer.hpp"

namespace sinter::kernel {
namespace {

template <class M, class G, class S, class C, class Options, class T = Wide<M>>
__device__ void update(const OptimizerArrays<M, G, S, C>& a, const AdamStep<Options>& step) {
  const Gradients<T> gradients(step.decision);
  const Options& o = step.options;
  constexpr bool coupled = AdamStep<Options>::coupled;
  const T l2 = T(step.weight_decay), decay = T(step.decay);
  // m + w (g - m), or as torch.lerp has it where w ≥ 1/2: g + (w - 1) (g - m).
  const bool near = step.rest1 < 0.5;
  const T weight = T(near ? step.rest1 : step.rest1 - 1);
  const T beta2 = T(o.beta2), rest2 = T(step.rest2);
  const T deviation = T(step.deviation), eps = T(o.eps);
  const T rate = T(-(step.lr / step.correction1));
  for_each_element(a.size, [=](std::int64_t i) {
    const T p = T(a.master[i]);
    T g = gradients(a.gradient[i]);
    if (coupled) g = fused(p, l2, g);
    T m = T(a.state[0][i]);
    m = fused(weight, g - m, near ? m : g);
    const T v = fused(rest2 * g, g, T(a.state[1][i]) * beta2);
    const T change = rate * m / (sqrt(v) / deviation + eps);
    a.state[0][i] = S(m);
    a.state[1][i] = S(v);
    store_weights(fused(p, decay, change), a, i);
  });
}

template <class M, class G, class S, class C>
__global__ void adamw_elements(OptimizerArrays<M, G, S, C> a,
                               Argument<AdamStep<AdamWOptions>> argument) {
  update(a, *argument);
}
template <class M, class G, class S, class C>
__global__ void adam_elements(OptimizerArrays<M, G, S, C> a,
                              Argument<AdamStep<AdamOptions>> argument) {
  update(a, *argument);
}

}  // namespace

SINTER_OPTIMIZER(adamw, AdamWOptions, AdamStep)
SINTER_OPTIMIZER(adam, AdamOptions, AdamStep)

}  // namespace sinter::kernel
