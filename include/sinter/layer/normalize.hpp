// SPDX-License-Identifier: Apache-2.0
// Layer norm and RMS norm, each by itself and fused with the residual join before it.
#pragma once
#include "sinter/kernels/normalize.hpp"
#include "sinter/layer/context.hpp"

namespace sinter {

namespace detail {
/// Default of the eps that LayerNorm adds to the variance.
inline constexpr double layer_norm_eps = 1e-5;

/// Parameters and saved values of layer norm, which has a bias and the mean of each row.
template <int W, double Eps>
struct LayerNormFields {
  template <class T>
  struct Params {
    T weight, bias;
  };
  template <class T, class Statistic>
  struct Saved {
    T x;
    Statistic mean, inverse;  // inverse: 1 / deviation
  };
  static constexpr Params<Param> params{Param::vector("weight", W, Init::ones),
                                        Param::vector("bias", W, Init::zeros)};
  static constexpr Saved<Keep, Keep> saved_of(Keep x) {
    return {x, Keep::statistic(), Keep::statistic()};
  }
  static constexpr double eps = Eps;

  static auto bias(const auto& of) { return of.bias; }
  static auto mean(const auto& saved) { return saved.mean; }
};

/// Parameters and saved values of RMS norm, which has no bias and no mean.
template <int W, double Eps>
struct RmsNormFields {
  template <class T>
  struct Params {
    T weight;
  };
  template <class T, class Statistic>
  struct Saved {
    T x;
    Statistic inverse;  // 1 / √(mean(x²) + eps)
  };
  static constexpr Params<Param> params{Param::vector("weight", W, Init::ones)};
  static constexpr Saved<Keep, Keep> saved_of(Keep x) { return {x, Keep::statistic()}; }
  static constexpr double eps = Eps;

  static auto bias(const auto& of) { return decltype(of.weight){}; }
  static auto mean(const auto& saved) { return decltype(saved.inverse){}; }
};

/// Base of a norm with or without a residual join.
template <int W, class Fields>
struct AnyNorm : Fields {
  static constexpr bool cheap = true;
  static constexpr std::int64_t scratch(std::int64_t) {
    return kernel::normalize_scratch(int(fields<Param>(Fields::params).size()), W, norm_row_blocks);
  }

 protected:
  static void backward_into(auto& c, auto dh, auto dy, auto first, auto second) {
    kernel::normalize_backward(c.stream(), c.saved.x, c.weights.weight, Fields::mean(c.saved),
                               c.saved.inverse, dy, dh, first, second, c.gradients.weight,
                               Fields::bias(c.gradients), c.scratch(), norm_row_blocks);
  }
};

template <int W, class Fields>
struct Norm : AnyNorm<W, Fields> {
  static constexpr std::array in{W};
  static constexpr std::array out{W};
  static constexpr auto saved = Fields::saved_of(Keep::input());

  static void forward(auto& c) {
    kernel::normalize_forward(c.stream(), c.x(), c.weights.weight, Fields::bias(c.weights), c.y(),
                              Fields::mean(c.saved), c.saved.inverse, Fields::eps);
  }
  static void backward(auto& c) {
    const auto dx = c.dx();
    Norm::backward_into(c, decltype(dx){}, c.dy(), dx, decltype(dx){});
  }
};

template <int W, class Fields>
struct AddNorm : AnyNorm<W, Fields> {
  static constexpr std::array in{W, W};
  static constexpr std::array out{W, W};
  static constexpr auto saved = Fields::saved_of(Keep::output(0));

  static void forward(auto& c) {
    kernel::add_normalize_forward(c.stream(), c.x(0), c.x(1), c.weights.weight,
                                  Fields::bias(c.weights), c.y(0), c.y(1), Fields::mean(c.saved),
                                  c.saved.inverse, Fields::eps);
  }
  static void backward(auto& c) { AddNorm::backward_into(c, c.dy(0), c.dy(1), c.dx(0), c.dx(1)); }
};

/// Norm of a sum that only the norm reads; the layer keeps the sum for backward.
template <int W, class Fields>
struct NormOfSum : AnyNorm<W, Fields> {
  static constexpr std::array in{W, W};
  static constexpr std::array out{W};
  static constexpr auto saved = Fields::saved_of(Keep::own(W));

  static void forward(auto& c) {
    kernel::add_normalize_forward(c.stream(), c.x(0), c.x(1), c.weights.weight,
                                  Fields::bias(c.weights), c.saved.x, c.y(), Fields::mean(c.saved),
                                  c.saved.inverse, Fields::eps);
  }
  static void backward(auto& c) {
    NormOfSum::backward_into(c, decltype(c.dy()){}, c.dy(), c.dx(0), c.dx(1));
  }
};
}  // namespace detail

/// Options of the layers LayerNorm, AddLayerNorm and PostLayerNorm.
struct LayerNormOptions {
  double eps = detail::layer_norm_eps;  ///< added to the variance
};

/// y = (x - mean) / deviation · weight + bias over the width (Ba et al. 2016), where deviation =
/// √(variance + eps). x, y: rows × W.
template <int W, LayerNormOptions O = {}>
struct LayerNorm : detail::Norm<W, detail::LayerNormFields<W, O.eps>> {};

/// h = a + b, n = LayerNorm(h), in one pass: the residual join before a half of a transformer
/// block. a, b, h, n: rows × W.
template <int W, LayerNormOptions O = {}>
struct AddLayerNorm : detail::AddNorm<W, detail::LayerNormFields<W, O.eps>> {};

/// y = LayerNorm(a + b), in one pass: the residual join after a half of a post-norm transformer
/// block (Vaswani et al. 2017), whose next half reads only the normalized sum. a, b, y: rows × W.
template <int W, LayerNormOptions O = {}>
struct PostLayerNorm : detail::NormOfSum<W, detail::LayerNormFields<W, O.eps>> {};

struct RmsNormOptions {
  double eps = 1e-6;  ///< added to the mean of the squares
};

/// y = x / √(mean(x²) + eps) · weight over the width (Zhang & Sennrich 2019). x, y: rows × W.
template <int W, RmsNormOptions O = {}>
struct RmsNorm : detail::Norm<W, detail::RmsNormFields<W, O.eps>> {};

/// h = a + b, n = RmsNorm(h), in one pass, as AddLayerNorm. a, b, h, n: rows × W.
template <int W, RmsNormOptions O = {}>
struct AddRmsNorm : detail::AddNorm<W, detail::RmsNormFields<W, O.eps>> {};

}  // namespace sinter
