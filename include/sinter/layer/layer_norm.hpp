#pragma once
#include "sinter/kernels/layer_norm.hpp"
#include "sinter/layer/context.hpp"

namespace sinter {

inline constexpr double layer_norm_eps = 1e-5;

/// y = (x - mean) / deviation · weight + bias over the width (Ba et al. 2016).   x, y: rows × W.
template <int W>
struct LayerNorm {
  static constexpr std::array in{W};
  static constexpr std::array out{W};
  static constexpr bool cheap = true;
  template <class T>
  struct Params {
    T weight, bias;
  };
  template <class T, class Statistic>
  struct Saved {
    T x;
    Statistic mean, inverse;  // inverse: 1 / deviation
  };
  static constexpr Params<Param> params{vector("weight", W, ones), vector("bias", W, zeros)};
  static constexpr Saved<Keep, Keep> saved{input(), statistic(), statistic()};
  static constexpr std::int64_t scratch(std::int64_t) { return kernel::layer_norm_scratch(W); }

  static void forward(auto& c) {
    auto x = c.x();
    kernel::layer_norm_forward(c.stream(), x.data, c.weights.weight.data, c.weights.bias.data,
                               c.y().data, c.saved.mean.data, c.saved.inverse.data, x.rows, W,
                               layer_norm_eps);
  }
  static void backward(auto& c) {
    using T = typename std::remove_reference_t<decltype(c)>::compute;
    auto x = c.saved.x, dx = c.dx();
    auto dw = c.gradients.weight, db = c.gradients.bias;
    kernel::layer_norm_backward(c.stream(), x.data, c.weights.weight.data, c.saved.mean.data,
                                c.saved.inverse.data, c.dy().data, static_cast<const T*>(nullptr),
                                dx.data, static_cast<T*>(nullptr), dx.add, false, dw.data, db.data,
                                dw.add, x.rows, W, c.scratch());
  }
};

/// h = a + b, n = LayerNorm(h), in one pass: the residual join before a half of a transformer
/// block. a, b, h, n: rows × W.
template <int W>
struct AddLayerNorm {
  using Norm = LayerNorm<W>;
  static constexpr std::array in{W, W};
  static constexpr std::array out{W, W};
  static constexpr bool cheap = true;
  template <class T>
  using Params = typename Norm::template Params<T>;
  template <class T, class Statistic>
  struct Saved {
    T h;
    Statistic mean, inverse;
  };
  static constexpr Params<Param> params = Norm::params;
  static constexpr Saved<Keep, Keep> saved{output(0), statistic(), statistic()};
  static constexpr std::int64_t scratch(std::int64_t) { return kernel::layer_norm_scratch(W); }

  static void forward(auto& c) {
    auto a = c.x(0);
    kernel::add_layer_norm_forward(c.stream(), a.data, c.x(1).data, c.weights.weight.data,
                                   c.weights.bias.data, c.y(0).data, c.y(1).data, c.saved.mean.data,
                                   c.saved.inverse.data, a.rows, W, layer_norm_eps);
  }
  static void backward(auto& c) {
    auto h = c.saved.h, da = c.dx(0), db = c.dx(1);
    auto first = da ? da : db, second = da ? db : da;  // either may be unwanted
    auto dw = c.gradients.weight;
    kernel::layer_norm_backward(c.stream(), h.data, c.weights.weight.data, c.saved.mean.data,
                                c.saved.inverse.data, c.dy(1).data, c.dy(0).data, first.data,
                                second.data, first.add, second.add, dw.data, c.gradients.bias.data,
                                dw.add, h.rows, W, c.scratch());
  }
};

}  // namespace sinter
