// SPDX-License-Identifier: Apache-2.0
#include "sinter/kernels/lion.hpp"

#include "kernels/cpu/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/lion.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/optimizer-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace sinter::kernel {
namespace {
namespace HWY_NAMESPACE {

/// 1, -1, or x itself where it is 0 or not a number.
template <class D, class V>
HWY_INLINE V sign(D d, V x) {
  const V one = hn::Set(d, Element_of<D>(1)), zero = hn::Zero(d);
  const V below = hn::IfThenElse(hn::Lt(x, zero), hn::Neg(one), x);
  return hn::IfThenElse(hn::Gt(x, zero), one, below);
}

template <class M, class G, class S, class C, class T = Wide<M>>
void update(const OptimizerArrays<M, G, S, C>& a, const OptimizerStep<LionOptions>& step) {
  const Gradients<T> gradients(step.decision);
  const LionOptions& o = step.options;
  const T decay = T(1 - step.lr * step.weight_decay), rate = T(-step.lr);
  const T beta1 = T(o.beta1), rest1 = T(1 - o.beta1);
  const T beta2 = T(o.beta2), rest2 = T(1 - o.beta2);
  for_each<T>(a.size, [=](auto d, std::int64_t i) HWY_ATTR {
    const auto g = gradients(d, a.gradient + i), m = load(d, a.state[0] + i);
    const auto mixed = hn::MulAdd(m, hn::Set(d, beta1), hn::Mul(g, hn::Set(d, rest1)));
    const auto p = hn::Mul(load(d, a.master + i), hn::Set(d, decay));
    store_weights(d, hn::MulAdd(sign(d, mixed), hn::Set(d, rate), p), a, i);
    store(hn::MulAdd(m, hn::Set(d, beta2), hn::Mul(g, hn::Set(d, rest2))), d, a.state[0] + i);
  });
}
SINTER_OPTIMIZER_FUNCTIONS(lion, LionOptions, OptimizerStep)

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace sinter::kernel
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sinter::kernel {
SINTER_OPTIMIZER(lion, LionOptions, OptimizerStep)
}  // namespace sinter::kernel
#endif  // HWY_ONCE
