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
  void (*adamw)(T* master, const T* gradient, T* mean, T* square, std::int64_t n,
                const AdamWStep& step);
  void (*sgd)(T* master, const T* gradient, T* momentum, std::int64_t n, const SgdStep& step);
};
}  // namespace
}  // namespace sinter::kernel
#endif

HWY_BEFORE_NAMESPACE();
namespace sinter::kernel {
namespace {
namespace HWY_NAMESPACE {

template <class T>
void adamw(T* master, const T* gradient, T* mean, T* square, std::int64_t n,
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
    auto g = hn::Mul(hn::LoadU(d, gradient + i), hn::Set(d, scale));
    auto p = hn::Mul(hn::LoadU(d, master + i), hn::Set(d, decay));
    auto m = hn::LoadU(d, mean + i);
    m = hn::MulAdd(hn::Set(d, weight), hn::Sub(g, m), near ? m : g);
    auto v = hn::Mul(hn::LoadU(d, square + i), hn::Set(d, beta2));
    v = hn::MulAdd(hn::Mul(hn::Set(d, rest2), g), g, v);
    auto root = hn::Add(hn::Div(hn::Sqrt(v), hn::Set(d, deviation)), hn::Set(d, eps));
    p = hn::Add(p, hn::Div(hn::Mul(hn::Set(d, rate), m), root));
    hn::StoreU(m, d, mean + i);
    hn::StoreU(v, d, square + i);
    hn::StoreU(p, d, master + i);
  });
}

template <class T>
void sgd(T* master, const T* gradient, T* momentum, std::int64_t n, const SgdStep& step) {
  const T decay = T(step.weight_decay), scale = T(step.gradient_scale);
  const T rate = T(-step.lr), inertia = T(step.momentum);
  const bool first = step.first;
  for_each<T>(n, [=](auto d, std::int64_t i) HWY_ATTR {
    auto p = hn::LoadU(d, master + i);
    auto g = hn::Mul(hn::LoadU(d, gradient + i), hn::Set(d, scale));
    g = hn::MulAdd(p, hn::Set(d, decay), g);
    if (momentum) {
      if (!first) g = hn::MulAdd(hn::LoadU(d, momentum + i), hn::Set(d, inertia), g);
      hn::StoreU(g, d, momentum + i);
    }
    hn::StoreU(hn::MulAdd(g, hn::Set(d, rate), p), d, master + i);
  });
}

OptimizerTable<float> table_f32() { return {adamw<float>, sgd<float>}; }
OptimizerTable<double> table_f64() { return {adamw<double>, sgd<double>}; }

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace sinter::kernel
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sinter::kernel {
namespace {
SINTER_DISPATCH(OptimizerTable)
}  // namespace

template <class T>
void adamw(Stream& stream, T* master, const T* gradient, T* mean, T* square, std::int64_t n,
           const AdamWStep& step) {
  auto kernel = table<T>().adamw;
  split_elements(stream, n, [&](auto begin, auto end) {
    kernel(master + begin, gradient + begin, mean + begin, square + begin, end - begin, step);
  });
}

template <class T>
void sgd(Stream& stream, T* master, const T* gradient, T* momentum, std::int64_t n,
         const SgdStep& step) {
  auto kernel = table<T>().sgd;
  split_elements(stream, n, [&](auto begin, auto end) {
    kernel(master + begin, gradient + begin, momentum ? momentum + begin : nullptr, end - begin,
           step);
  });
}

#define SINTER_INSTANTIATE(T)                                                         \
  template void adamw(Stream&, T*, const T*, T*, T*, std::int64_t, const AdamWStep&); \
  template void sgd(Stream&, T*, const T*, T*, std::int64_t, const SgdStep&);
SINTER_INSTANTIATE(float)
SINTER_INSTANTIATE(double)
#undef SINTER_INSTANTIATE

}  // namespace sinter::kernel
#endif  // HWY_ONCE
