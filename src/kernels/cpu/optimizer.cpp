// SPDX-License-Identifier: Apache-2.0
#include "sinter/kernels/optimizer.hpp"

#include <cmath>
#include <limits>

#include "hardware/cpu/split.hpp"
#include "kernels/cpu/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/optimizer.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/simd-inl.hpp"

#ifndef SINTER_OPTIMIZER_TABLE
#define SINTER_OPTIMIZER_TABLE
namespace sinter::kernel {
namespace {
/// What each instruction set provides, on one range.
template <class M, class G, class S, class C>
struct OptimizerTable {
  void (*adamw)(M* master, const G* gradient, S* mean, S* square, C* copy, std::int64_t n,
                const AdamWStep& step);
  void (*sgd)(M* master, const G* gradient, S* momentum, C* copy, std::int64_t n,
              const SgdStep& step);
  void (*lion)(M* master, const G* gradient, S* mean, C* copy, std::int64_t n,
               const LionStep& step);
};
}  // namespace
}  // namespace sinter::kernel

/// X(function, M, G, S, C) for each combination of types.
#define SINTER_EACH_OPTIMIZER(X)                             \
  X(optimizer_f32, float, float, float, float)               \
  X(optimizer_f64, double, double, double, double)           \
  X(optimizer_bf16, float, float, float, BFloat16)           \
  X(optimizer_f16, float, float, float, Float16)             \
  X(optimizer_f16_gradients, float, Float16, float, Float16) \
  X(optimizer_all_f16, Float16, Float16, float, Float16)
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

  template <class Step>
  explicit Gradients(const Step& step)
      : scale(T(step.decision ? step.decision->scale : 1)),
        limit(T(step.decision ? step.decision->limit : 0)),
        limited(step.decision && step.decision->limit < std::numeric_limits<double>::infinity()) {}

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
template <class D, class V, class M, class C>
HWY_INLINE void store_weights(D d, V p, M* master, C* copy, std::int64_t i) {
  store(p, d, master + i);
  if (copy) store(p, d, copy + i);
}

template <class M, class G, class S, class C, class T = Wide<M>>
void adamw(M* master, const G* gradient, S* mean, S* square, C* copy, std::int64_t n,
           const AdamWStep& step) {
  const Gradients<T> gradients(step);
  const bool coupled = step.coupled;
  const T l2 = T(step.weight_decay), decay = T(coupled ? 1 : 1 - step.lr * step.weight_decay);
  // m + w (g - m), or as torch.lerp has it where w ≥ 1/2: g + (w - 1) (g - m).
  const double w = 1 - step.beta1;
  const bool near = w < 0.5;
  const T weight = T(near ? w : w - 1);
  const T beta2 = T(step.beta2), rest2 = T(1 - step.beta2);
  const T deviation = T(std::sqrt(step.correction2)), eps = T(step.eps);
  const T rate = T(-(step.lr / step.correction1));
  for_each<T>(n, [=](auto d, std::int64_t i) HWY_ATTR {
    auto g = gradients(d, gradient + i);
    const auto p = load(d, master + i);
    if (coupled) g = hn::MulAdd(p, hn::Set(d, l2), g);
    auto m = load(d, mean + i);
    m = hn::MulAdd(hn::Set(d, weight), hn::Sub(g, m), near ? m : g);
    auto v = hn::Mul(load(d, square + i), hn::Set(d, beta2));
    v = hn::MulAdd(hn::Mul(hn::Set(d, rest2), g), g, v);
    auto root = hn::Add(hn::Div(hn::Sqrt(v), hn::Set(d, deviation)), hn::Set(d, eps));
    const auto change = hn::Div(hn::Mul(hn::Set(d, rate), m), root);
    store(m, d, mean + i);
    store(v, d, square + i);
    store_weights(d, hn::MulAdd(p, hn::Set(d, decay), change), master, copy, i);
  });
}

template <class M, class G, class S, class C, class T = Wide<M>>
void sgd(M* master, const G* gradient, S* momentum, C* copy, std::int64_t n, const SgdStep& step) {
  const Gradients<T> gradients(step);
  const T decay = T(step.weight_decay), rate = T(-step.lr), inertia = T(step.momentum);
  const bool first = step.first, nesterov = step.nesterov;
  for_each<T>(n, [=](auto d, std::int64_t i) HWY_ATTR {
    auto p = load(d, master + i);
    auto g = hn::MulAdd(p, hn::Set(d, decay), gradients(d, gradient + i));
    if (momentum) {
      auto b = g;
      if (!first) b = hn::MulAdd(load(d, momentum + i), hn::Set(d, inertia), g);
      store(b, d, momentum + i);
      g = nesterov ? hn::MulAdd(b, hn::Set(d, inertia), g) : b;
    }
    store_weights(d, hn::MulAdd(g, hn::Set(d, rate), p), master, copy, i);
  });
}

/// 1, -1, or x itself where it is 0 or not a number.
template <class D, class V>
HWY_INLINE V sign(D d, V x) {
  const V one = hn::Set(d, Element_of<D>(1)), zero = hn::Zero(d);
  const V below = hn::IfThenElse(hn::Lt(x, zero), hn::Neg(one), x);
  return hn::IfThenElse(hn::Gt(x, zero), one, below);
}

template <class M, class G, class S, class C, class T = Wide<M>>
void lion(M* master, const G* gradient, S* mean, C* copy, std::int64_t n, const LionStep& step) {
  const Gradients<T> gradients(step);
  const T decay = T(1 - step.lr * step.weight_decay), rate = T(-step.lr);
  const T beta1 = T(step.beta1), rest1 = T(1 - step.beta1);
  const T beta2 = T(step.beta2), rest2 = T(1 - step.beta2);
  for_each<T>(n, [=](auto d, std::int64_t i) HWY_ATTR {
    const auto g = gradients(d, gradient + i), m = load(d, mean + i);
    const auto mixed = hn::MulAdd(m, hn::Set(d, beta1), hn::Mul(g, hn::Set(d, rest1)));
    const auto p = hn::Mul(load(d, master + i), hn::Set(d, decay));
    store_weights(d, hn::MulAdd(sign(d, mixed), hn::Set(d, rate), p), master, copy, i);
    store(hn::MulAdd(m, hn::Set(d, beta2), hn::Mul(g, hn::Set(d, rest2))), d, mean + i);
  });
}

#define SINTER_TABLE(function, M, G, S, C)                         \
  OptimizerTable<M, G, S, C> function() {                          \
    return {adamw<M, G, S, C>, sgd<M, G, S, C>, lion<M, G, S, C>}; \
  }
SINTER_EACH_OPTIMIZER(SINTER_TABLE)
#undef SINTER_TABLE

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace sinter::kernel
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sinter::kernel {
namespace {

template <class M, class G, class S, class C>
OptimizerTable<M, G, S, C> table();
#define SINTER_TABLE(function, M, G, S, C)   \
  HWY_EXPORT(function);                      \
  template <>                                \
  OptimizerTable<M, G, S, C> table() {       \
    return HWY_DYNAMIC_DISPATCH(function)(); \
  }
SINTER_EACH_OPTIMIZER(SINTER_TABLE)
#undef SINTER_TABLE

template <class T>
T* at(T* data, std::int64_t i) {
  return data ? data + i : nullptr;
}

}  // namespace

template <class M, class G, class S, class C>
void adamw(Stream& stream, M* master, const G* gradient, S* mean, S* square, C* copy,
           std::int64_t n, const AdamWStep& step) {
  auto kernel = table<M, G, S, C>().adamw;
  split_elements(stream, n, [&](auto begin, auto end) {
    kernel(master + begin, gradient + begin, mean + begin, square + begin, at(copy, begin),
           end - begin, step);
  });
}

template <class M, class G, class S, class C>
void sgd(Stream& stream, M* master, const G* gradient, S* momentum, C* copy, std::int64_t n,
         const SgdStep& step) {
  auto kernel = table<M, G, S, C>().sgd;
  split_elements(stream, n, [&](auto begin, auto end) {
    kernel(master + begin, gradient + begin, at(momentum, begin), at(copy, begin), end - begin,
           step);
  });
}

template <class M, class G, class S, class C>
void lion(Stream& stream, M* master, const G* gradient, S* mean, C* copy, std::int64_t n,
          const LionStep& step) {
  auto kernel = table<M, G, S, C>().lion;
  split_elements(stream, n, [&](auto begin, auto end) {
    kernel(master + begin, gradient + begin, mean + begin, at(copy, begin), end - begin, step);
  });
}

#define SINTER_INSTANTIATE(function, M, G, S, C)                                          \
  template void adamw(Stream&, M*, const G*, S*, S*, C*, std::int64_t, const AdamWStep&); \
  template void sgd(Stream&, M*, const G*, S*, C*, std::int64_t, const SgdStep&);         \
  template void lion(Stream&, M*, const G*, S*, C*, std::int64_t, const LionStep&);
SINTER_EACH_OPTIMIZER(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE

}  // namespace sinter::kernel
#endif  // HWY_ONCE
