// SPDX-License-Identifier: Apache-2.0
// What the kernels of elementwise optimizers share. A source defines NAME_elements(arrays, argument) for
// SINTER_OPTIMIZER.
#pragma once
#include <limits>

#include "kernels/cuda/each_element.hpp"
#include "kernels/optimizer_step.hpp"

/// Defines name(options, span), for the step's type Step<Options>.
#define SINTER_OPTIMIZER(name, Options, Step)                                     \
  template <class M, class G, class S, class C>                                   \
  void name(const Options& options, const ParameterSpan<M, G, S, C>& span) {      \
    const Step<Options> step(options, span);                                      \
    launch(span.stream, grid_of_elements(span.size), name##_elements<M, G, S, C>, \
           OptimizerArrays(span), span.stream.device().argument(step));           \
  }                                                                               \
  SINTER_EACH_OPTIMIZER(SINTER_OPTIMIZER_INSTANCE, name, Options)

namespace sinter::kernel {

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
template <class T, class M, class G, class S, class C>
__device__ void store_weights(T p, const OptimizerArrays<M, G, S, C>& a, std::int64_t i) {
  a.master[i] = M(p);
  if (a.copy) a.copy[i] = C(p);
}

}  // namespace sinter::kernel
