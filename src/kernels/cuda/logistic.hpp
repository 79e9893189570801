// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "device/cuda/language.hpp"

namespace sinter::kernel {

/// The logistic function s(z) = 1 / (1 + exp(-z)) and its slope s (1 - s), without overflow or
/// cancellation.
template <class S>
struct Logistic {
  S value, slope;

  __device__ explicit Logistic(S z) {
    const S e = exp(-fabs(z)), r = S(1) / (S(1) + e);
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
