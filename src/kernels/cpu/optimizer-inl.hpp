// SPDX-License-Identifier: Apache-2.0
// What the kernels of elementwise optimizers share: include after hwy/foreach_target.h. A source
// defines update(arrays, step), then has SINTER_OPTIMIZER_FUNCTIONS in each instruction set's
// namespace and SINTER_OPTIMIZER under HWY_ONCE.
#include <limits>

#include "hardware/cpu/split.hpp"
#include "kernels/cpu/simd-inl.hpp"
#include "kernels/optimizer_step.hpp"

#ifndef SINTER_OPTIMIZER
/// Defines what SINTER_OPTIMIZER needs of an instruction set, for the step's type Step<Options>.
#define SINTER_OPTIMIZER_FUNCTIONS(name, Options, Step) \
  SINTER_EACH_OPTIMIZER(SINTER_OPTIMIZER_FUNCTION, name, Step<Options>)
#define SINTER_OPTIMIZER_FUNCTION(suffix, M, G, S, C, name, StepOf)                     \
  auto name##_##suffix()->void (*)(const OptimizerArrays<M, G, S, C>&, const StepOf&) { \
    return update<M, G, S, C>;                                                          \
  }

/// Defines name(options, span), which shares the work among threads.
#define SINTER_OPTIMIZER(name, Options, Step)                                \
  namespace {                                                                \
  SINTER_EACH_OPTIMIZER(SINTER_OPTIMIZER_DISPATCH, name, Step<Options>)      \
  }                                                                          \
  template <class M, class G, class S, class C>                              \
  void name(const Options& options, const ParameterSpan<M, G, S, C>& span) { \
    const Step<Options> step(options, span);                                 \
    const auto kernel = best(span, step);                                    \
    split_elements(span.stream, span.size, [&](auto begin, auto end) {       \
      kernel(OptimizerArrays(span, begin, end), step);                       \
    });                                                                      \
  }                                                                          \
  SINTER_EACH_OPTIMIZER(SINTER_OPTIMIZER_INSTANCE, name, Options)
#define SINTER_OPTIMIZER_DISPATCH(suffix, M, G, S, C, name, StepOf) \
  HWY_EXPORT(name##_##suffix);                                      \
  auto best(const ParameterSpan<M, G, S, C>&, const StepOf&) {      \
    return HWY_DYNAMIC_DISPATCH(name##_##suffix)();                 \
  }
#endif

#if defined(SINTER_OPTIMIZER_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SINTER_OPTIMIZER_INL
#undef SINTER_OPTIMIZER_INL
#else
#define SINTER_OPTIMIZER_INL
#endif

HWY_BEFORE_NAMESPACE();
namespace sinter::kernel {
namespace {
namespace HWY_NAMESPACE {

/// Reads gradients, scaled and clamped.
template <class T>
struct Gradients {
  T scale, limit;
  bool limited;

  explicit Gradients(const Decision* decision)
      : scale(T(decision ? decision->scale : 1)),
        limit(T(decision ? decision->limit : 0)),
        limited(decision && decision->limit < std::numeric_limits<double>::infinity()) {}

  template <class D, class G>
  HWY_INLINE hn::Vec<D> operator()(D d, const G* from) const {
    auto g = hn::Mul(load(d, from), hn::Set(d, scale));
    if (!limited) return g;
    const auto most = hn::Set(d, limit), least = hn::Neg(most);
    g = hn::IfThenElse(hn::Gt(g, most), most, g);  // not Min, which may lose what is no number
    return hn::IfThenElse(hn::Lt(g, least), least, g);
  }
};

/// Stores new weights, and their copy.
template <class D, class V, class Arrays>
HWY_INLINE void store_weights(D d, V p, const Arrays& a, std::int64_t i) {
  store(p, d, a.master + i);
  if (a.copy) store(p, d, a.copy + i);
}

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace sinter::kernel
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
