// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/cuda/language.hpp"

namespace sinter::kernel {

/// 1 / x of a number between 1 and 2, to an ε, or of what is none: without the branch for numbers whose
/// inverse is subnormal or infinite.
__device__ __forceinline__ float inverse(float x) {
#ifdef __CUDACC__
  float about;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(about) : "f"(x));
  return fmaf(about, fmaf(-x, about, 1.f), about);
#else
  return 1 / x;
#endif
}
__device__ __forceinline__ double inverse(double x) { return 1 / x; }

/// The logistic function s(z) = 1 / (1 + exp(-z)) and its slope s (1 - s), without overflow or
/// cancellation.
template <class S>
struct Logistic {
  S value, slope;

  __device__ explicit Logistic(S z) {
    const S e = exp(-fabs(z)), r = inverse(S(1) + e);
    value = z < 0 ? e * r : r;
    slope = e * r * r;
  }
};

/// silu(x) = x s(x) and its slope s + x s (1 - s).
template <class S>
struct Silu {
  S value, slope;

  __device__ explicit Silu(S x) {
    const Logistic<S> logistic(x);
    value = x * logistic.value;
    slope = logistic.value + x * logistic.slope;
  }
};

}  // namespace sinter::kernel
