#include "sinter/kernels/optimizer.hpp"

#include <cmath>

#include "kernels/cpu/split.hpp"
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
template <class T>
struct OptimizerTable {
  using W = Wide<T>;
  void (*adamw)(W* master, const W* gradient, W* mean, W* square, T* copy, std::int64_t n,
                const AdamWStep& step);
  void (*sgd)(W* master, const W* gradient, W* momentum, T* copy, std::int64_t n,
              const SgdStep& step);
};
}  // namespace
}  // namespace sinter::kernel
#endif

HWY_BEFORE_NAMESPACE();
namespace sinter::kernel {
namespace {
namespace HWY_NAMESPACE {

template <class C, class T = Wide<C>>
void adamw(T* master, const T* gradient, T* mean, T* square, C* copy, std::int64_t n,
           const AdamWStep& step) {
  const T decay = T(1 - step.lr * step.weight_decay), scale = T(step.gradient_scale);
  // m + w (g - m), or as torch.lerp has it where w ≥ 1/2: g + (w - 1) (g - m).
  const double w = 1 - step.beta1;
  const bool near = w < 0.5;
  const T weight = T(near ? w : w - 1);
  const T beta2 = T(step.beta2), rest2 = T(1 - step.beta2);
  const T deviation = T(std::sqrt(step.correction2)), eps = T(step.eps);
  const T rate = T(-(step.lr / step.correction1));
  for_each<T>(n, [=](auto d, std::int64_t i) HWY_ATTR {
    auto g = hn::Mul(load(d, gradient + i), hn::Set(d, scale));
    auto p = hn::Mul(load(d, master + i), hn::Set(d, decay));
    auto m = load(d, mean + i);
    m = hn::MulAdd(hn::Set(d, weight), hn::Sub(g, m), near ? m : g);
    auto v = hn::Mul(load(d, square + i), hn::Set(d, beta2));
    v = hn::MulAdd(hn::Mul(hn::Set(d, rest2), g), g, v);
    auto root = hn::Add(hn::Div(hn::Sqrt(v), hn::Set(d, deviation)), hn::Set(d, eps));
    p = hn::Add(p, hn::Div(hn::Mul(hn::Set(d, rate), m), root));
    store(m, d, mean + i);
    store(v, d, square + i);
    store(p, d, master + i);
    if (copy) store(p, d, copy + i);
  });
}

template <class C, class T = Wide<C>>
void sgd(T* master, const T* gradient, T* momentum, C* copy, std::int64_t n, const SgdStep& step) {
  const T decay = T(step.weight_decay), scale = T(step.gradient_scale);
  const T rate = T(-step.lr), inertia = T(step.momentum);
  const bool first = step.first;
  for_each<T>(n, [=](auto d, std::int64_t i) HWY_ATTR {
    auto p = load(d, master + i);
    auto g = hn::Mul(load(d, gradient + i), hn::Set(d, scale));
    g = hn::MulAdd(p, hn::Set(d, decay), g);
    if (momentum) {
      if (!first) g = hn::MulAdd(load(d, momentum + i), hn::Set(d, inertia), g);
      store(g, d, momentum + i);
    }
    p = hn::MulAdd(g, hn::Set(d, rate), p);
    store(p, d, master + i);
    if (copy) store(p, d, copy + i);
  });
}

OptimizerTable<float> table_f32() { return {adamw<float>, sgd<float>}; }
OptimizerTable<double> table_f64() { return {adamw<double>, sgd<double>}; }
OptimizerTable<BFloat16> table_bf16() { return {adamw<BFloat16>, sgd<BFloat16>}; }

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace sinter::kernel
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sinter::kernel {
namespace {
SINTER_DISPATCH_BF16(OptimizerTable)
}  // namespace

template <class T>
void adamw(Stream& stream, Wide<T>* master, const Wide<T>* gradient, Wide<T>* mean, Wide<T>* square,
           T* copy, std::int64_t n, const AdamWStep& step) {
  auto kernel = table<T>().adamw;
  split_elements(stream, n, [&](auto begin, auto end) {
    kernel(master + begin, gradient + begin, mean + begin, square + begin,
           copy ? copy + begin : nullptr, end - begin, step);
  });
}

template <class T>
void sgd(Stream& stream, Wide<T>* master, const Wide<T>* gradient, Wide<T>* momentum, T* copy,
         std::int64_t n, const SgdStep& step) {
  auto kernel = table<T>().sgd;
  split_elements(stream, n, [&](auto begin, auto end) {
    kernel(master + begin, gradient + begin, momentum ? momentum + begin : nullptr,
           copy ? copy + begin : nullptr, end - begin, step);
  });
}

#define SINTER_INSTANTIATE(T)                                                                  \
  template void adamw(Stream&, Wide<T>*, const Wide<T>*, Wide<T>*, Wide<T>*, T*, std::int64_t, \
                      const AdamWStep&);                                                       \
  template void sgd(Stream&, Wide<T>*, const Wide<T>*, Wide<T>*, T*, std::int64_t, const SgdStep&);
SINTER_INSTANTIATE(float)
SINTER_INSTANTIATE(double)
SINTER_INSTANTIATE(BFloat16)
#undef SINTER_INSTANTIATE

}  // namespace sinter::kernel
#endif  // HWY_ONCE
