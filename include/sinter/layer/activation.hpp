// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/kernels/activation.hpp"
#include "sinter/layer/context.hpp"

namespace sinter {

using kernel::Activation;

/// y = f(x). x, y: rows × W. Keeps x.
template <int W, Activation F>
struct Activate {
  static constexpr std::array in{W};
  static constexpr std::array out{W};
  static constexpr bool cheap = true;
  template <class T, class Statistic>
  struct Saved {
    T x;
  };
  static constexpr Saved<Keep, Keep> saved{Keep::input()};

  static void forward(auto& c) { kernel::activation_forward(c.stream(), F, c.x(), c.y()); }
  static void backward(auto& c) {
    if (auto dx = c.dx()) kernel::activation_backward(c.stream(), F, c.saved.x, c.dy(), dx);
  }
};

/// GPT-2's (gelu_new): x/2 (1 + tanh(√(2/π) (x + 0.044715 x³))).
template <int W>
using GeluTanh = Activate<W, Activation::gelu_tanh>;
/// x Φ(x), with Φ the cumulative normal distribution (Hendrycks and Gimpel 2016).
template <int W>
using GeluErf = Activate<W, Activation::gelu_erf>;
/// max(x, 0).
template <int W>
using Relu = Activate<W, Activation::relu>;
/// x / (1 + exp(-x)), also called swish (Elfwing, Uchibe and Doya 2018).
template <int W>
using Silu = Activate<W, Activation::silu>;
/// tanh(x).
template <int W>
using Tanh = Activate<W, Activation::tanh>;

}  // namespace sinter
