// SPDX-License-Identifier: Apache-2.0
// Activation functions. T: float, double, BFloat16 or Float16.
#pragma once
#include <string_view>

#include "sinter/base/bfloat16.hpp"
#include "sinter/base/float16.hpp"
#include "sinter/hardware/stream.hpp"
#include "sinter/kernels/tensor.hpp"

namespace sinter::kernel {

/// Activation functions of activation_forward() and activation_backward().
enum class Activation {
  gelu_tanh,  ///< x/2 (1 + tanh(√(2/π) (x + 0.044715 x³))), GPT-2's (Hendrycks & Gimpel 2016)
  gelu_erf,   ///< x/2 (1 + erf(x / √2))
  relu,       ///< max(x, 0); its slope at 0 is 0, and a NaN stays a NaN
  silu,       ///< x / (1 + exp(-x)) (Elfwing, Uchibe & Doya 2018)
  tanh,       ///< tanh(x)
};

/// The name of a function, as options print it.
constexpr std::string_view name_of(Activation f) {
  constexpr std::string_view names[]{"gelu_tanh", "gelu_erf", "relu", "silu", "tanh"};
  return names[int(f)];
}

/// y = f(x). x and y have one shape; y may be x. Error ≤ 4 ulp of max(|x|, 1).
template <class T>
void activation_forward(Stream& stream, Activation f, Input<T> x, Tensor<T> y);

/// dx = f'(x) dy, or dx += … with its add flag. x, dy and dx have one shape; dx may be dy. Error of
/// f' ≤ 16 ulp of 1.
template <class T>
void activation_backward(Stream& stream, Activation f, Input<T> x, Input<T> dy, Tensor<T> dx);

}  // namespace sinter::kernel
