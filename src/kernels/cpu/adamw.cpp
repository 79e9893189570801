// SPDX-License-Identifier: Apache-2.0
#include "sinter/kernels/adamw.hpp"

#include "kernels/cpu/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/adamw.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/optimizer-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace sinter::kernel {
namespace {
namespace HWY_NAMESPACE {

template <class M, class G, class S, class C, class Options, class T = Wide<M>>
void update(const OptimizerArrays<M, G, S, C>& a, const AdamStep<Options>& step) {
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
  for_each<T>(a.size, [=](auto d, std::int64_t i) HWY_ATTR {
    auto g = gradients(d, a.gradient + i);
    const auto p = load(d, a.master + i);
    if (coupled) g = hn::MulAdd(p, hn::Set(d, l2), g);
    auto m = load(d, a.state[0] + i);
    m = hn::MulAdd(hn::Set(d, weight), hn::Sub(g, m), near ? m : g);
    auto v = hn::Mul(load(d, a.state[1] + i), hn::Set(d, beta2));
    v = hn::MulAdd(hn::Mul(hn::Set(d, rest2), g), g, v);
    auto root = hn::Add(hn::Div(hn::Sqrt(v), hn::Set(d, deviation)), hn::Set(d, eps));
    const auto change = hn::Div(hn::Mul(hn::Set(d, rate), m), root);
    store(m, d, a.state[0] + i);
    store(v, d, a.state[1] + i);
    store_weights(d, hn::MulAdd(p, hn::Set(d, decay), change), a, i);
  });
}
SINTER_OPTIMIZER_FUNCTIONS(adamw, AdamWOptions, AdamStep)
SINTER_OPTIMIZER_FUNCTIONS(adam, AdamOptions, AdamStep)

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace sinter::kernel
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sinter::kernel {
SINTER_OPTIMIZER(adamw, AdamWOptions, AdamStep)
SINTER_OPTIMIZER(adam, AdamOptions, AdamStep)
}  // namespace sinter::kernel
#endif  // HWY_ONCE
