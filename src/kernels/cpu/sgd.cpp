// SPDX-License-Identifier: Apache-2.0
#include "sinter/kernels/sgd.hpp"

#include "kernels/cpu/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/sgd.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/optimizer-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace sinter::kernel {
namespace {
namespace HWY_NAMESPACE {

template <class M, class G, class S, class C, class T = Wide<M>>
void update(const OptimizerArrays<M, G, S, C>& a, const OptimizerStep<SgdOptions>& step) {
  const Gradients<T> gradients(step.decision);
  const T decay = T(step.weight_decay), rate = T(-step.lr), inertia = T(step.options.momentum);
  const bool first = step.number == 1, nesterov = step.options.nesterov;
  S* const momentum = a.state[0];
  for_each<T>(a.size, [=](auto d, std::int64_t i) HWY_ATTR {
    auto p = load(d, a.master + i);
    auto g = hn::MulAdd(p, hn::Set(d, decay), gradients(d, a.gradient + i));
    if (momentum) {
      auto b = g;
      if (!first) b = hn::MulAdd(load(d, momentum + i), hn::Set(d, inertia), g);
      store(b, d, momentum + i);
      g = nesterov ? hn::MulAdd(b, hn::Set(d, inertia), g) : b;
    }
    store_weights(d, hn::MulAdd(g, hn::Set(d, rate), p), a, i);
  });
}
SINTER_OPTIMIZER_FUNCTIONS(sgd, SgdOptions, OptimizerStep)

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace sinter::kernel
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sinter::kernel {
SINTER_OPTIMIZER(sgd, SgdOptions, OptimizerStep)
}  // namespace sinter::kernel
#endif  // HWY_ONCE
