// SPDX-License-Identifier: Apache-2.0
#include "sinter/kernels/optimizer.hpp"

#include <limits>

#include "kernels/cuda/each_element.hpp"

/// X(M, G, S, C) for each combination of types.
#define SINTER_EACH_OPTIMIZER(X)    \
  X(float, float, float, float)     \
  X(double, double, double, double) \
  X(float, float, float, BFloat16)  \
  X(float, float, float, Float16)   \
  X(float, Float16, float, Float16) \
  X(Float16, Float16, float, Float16)

namespace sinter::kernel {
namespace {

/// Reads gradients, scaled and clamped.
template <class T>
struct Gradients {
  T scale = 1, limit = 0;
  bool limited = false;

  __device__ explicit Gradients(const Decision* decision) {
    if (!decision) return;
    scale = T(decision->scale);
    limit = T(decision->limit);
    limited = decision->limit < std::numeric_limits<double>::infinity();
  }

  template <class G>
  __device__ T operator()(G from) const {
    T g = T(Wide<G>(from)) * scale;
    if (!limited) return g;
    g = g > limit ? limit : g;  // what is no number stays so
    return g < -limit ? -limit : g;
  }
};

/// Stores new weights, and their copy.
template <class T, class M, class C>
__device__ void store_weights(T p, M* master, C* copy, std::int64_t i) {
  master[i] = M(p);
  if (copy) copy[i] = C(p);
}

template <class M, class G, class S, class C, class T = Wide<M>>
__global__ void adamw_elements(M* master, const G* gradient, S* mean, S* square, C* copy,
                               std::int64_t n, Told<AdamWStep> told) {
  const AdamWStep& step = *told;
  const Gradients<T> gradients(step.decision);
  const bool coupled = step.coupled;
  const T l2 = T(step.weight_decay), decay = T(coupled ? 1 : 1 - step.lr * step.weight_decay);
  // m + w (g - m), or as torch.lerp has it where w ≥ 1/2: g + (w - 1) (g - m).
  const double w = 1 - step.beta1;
  const bool near = w < 0.5;
  const T weight = T(near ? w : w - 1);
  const T beta2 = T(step.beta2), rest2 = T(1 - step.beta2);
  const T deviation = T(sqrt(step.correction2)), eps = T(step.eps);
  const T rate = T(-(step.lr / step.correction1));
  for_each_element(n, [=](std::int64_t i) {
    const T p = T(master[i]);
    T g = gradients(gradient[i]);
    if (coupled) g = fused(p, l2, g);
    T m = T(mean[i]);
    m = fused(weight, g - m, near ? m : g);
    const T v = fused(rest2 * g, g, T(square[i]) * beta2);
    const T change = rate * m / (sqrt(v) / deviation + eps);
    mean[i] = S(m);
    square[i] = S(v);
    store_weights(fused(p, decay, change), master, copy, i);
  });
}

template <class M, class G, class S, class C, class T = Wide<M>>
__global__ void sgd_elements(M* master, const G* gradient, S* momentum, C* copy, std::int64_t n,
                             Told<SgdStep> told) {
  const SgdStep& step = *told;
  const Gradients<T> gradients(step.decision);
  const T decay = T(step.weight_decay), rate = T(-step.lr), inertia = T(step.momentum);
  const bool first = step.first, nesterov = step.nesterov;
  for_each_element(n, [=](std::int64_t i) {
    const T p = T(master[i]);
    T g = fused(p, decay, gradients(gradient[i]));
    if (momentum) {
      const T b = first ? g : fused(T(momentum[i]), inertia, g);
      momentum[i] = S(b);
      g = nesterov ? fused(b, inertia, g) : b;
    }
    store_weights(fused(g, rate, p), master, copy, i);
  });
}

/// 1, -1, or x itself where it is 0 or not a number.
template <class T>
__device__ T sign(T x) {
  return x > 0 ? T(1) : x < 0 ? T(-1) : x;
}

template <class M, class G, class S, class C, class T = Wide<M>>
__global__ void lion_elements(M* master, const G* gradient, S* mean, C* copy, std::int64_t n,
                              Told<LionStep> told) {
  const LionStep& step = *told;
  const Gradients<T> gradients(step.decision);
  const T decay = T(1 - step.lr * step.weight_decay), rate = T(-step.lr);
  const T beta1 = T(step.beta1), rest1 = T(1 - step.beta1);
  const T beta2 = T(step.beta2), rest2 = T(1 - step.beta2);
  for_each_element(n, [=](std::int64_t i) {
    const T g = gradients(gradient[i]), m = T(mean[i]);
    const T mixed = fused(m, beta1, g * rest1);
    store_weights(fused(sign(mixed), rate, T(master[i]) * decay), master, copy, i);
    mean[i] = S(fused(m, beta2, g * rest2));
  });
}

}  // namespace

template <class M, class G, class S, class C>
void adamw(Stream& stream, M* master, const G* gradient, S* mean, S* square, C* copy,
           std::int64_t n, const AdamWStep& step) {
  launch(stream, grid_of_elements(n), adamw_elements<M, G, S, C>, master, gradient, mean, square,
         copy, n, stream.device().tell(step));
}

template <class M, class G, class S, class C>
void sgd(Stream& stream, M* master, const G* gradient, S* momentum, C* copy, std::int64_t n,
         const SgdStep& step) {
  launch(stream, grid_of_elements(n), sgd_elements<M, G, S, C>, master, gradient, momentum, copy, n,
         stream.device().tell(step));
}

template <class M, class G, class S, class C>
void lion(Stream& stream, M* master, const G* gradient, S* mean, C* copy, std::int64_t n,
          const LionStep& step) {
  launch(stream, grid_of_elements(n), lion_elements<M, G, S, C>, master, gradient, mean, copy, n,
         stream.device().tell(step));
}

#define SINTER_INSTANTIATE(M, G, S, C)                                                    \
  template void adamw(Stream&, M*, const G*, S*, S*, C*, std::int64_t, const AdamWStep&); \
  template void sgd(Stream&, M*, const G*, S*, C*, std::int64_t, const SgdStep&);         \
  template void lion(Stream&, M*, const G*, S*, C*, std::int64_t, const LionStep&);
SINTER_EACH_OPTIMIZER(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE

}  // namespace sinter::kernel
