#pragma once
#include "sinter/kernels/rms_norm.hpp"
#include "sinter/layer/context.hpp"

namespace sinter {

struct RmsNormOptions {
  double eps = 1e-6;
};

/// y = x / √(mean(x²) + eps) · weight over the width (Zhang & Sennrich 2019).   x, y: rows × W.
template <int W, RmsNormOptions O = {}>
struct RmsNorm {
  static constexpr std::array in{W};
  static constexpr std::array out{W};
  static constexpr bool cheap = true;
  template <class T>
  struct Params {
    T weight;
  };
  template <class T, class Statistic>
  struct Saved {
    T x;
    Statistic inverse;  // 1 / √(mean(x²) + eps)
  };
  static constexpr Params<Param> params{vector("weight", W, ones)};
  static constexpr Saved<Keep, Keep> saved{input(), statistic()};
  static constexpr std::int64_t scratch(std::int64_t) { return kernel::rms_norm_scratch(W); }

  static void forward(auto& c) {
    auto x = c.x();
    kernel::rms_norm_forward(c.stream(), x.data, c.weights.weight.data, c.y().data,
                             c.saved.inverse.data, x.rows, W, O.eps);
  }
  static void backward(auto& c) {
    using T = typename std::remove_reference_t<decltype(c)>::compute;
    auto x = c.saved.x, dx = c.dx();
    auto dw = c.gradients.weight;
    kernel::rms_norm_backward(c.stream(), x.data, c.weights.weight.data, c.saved.inverse.data,
                              c.dy().data, static_cast<const T*>(nullptr), dx.data,
                              static_cast<T*>(nullptr), dx.add, false, dw.data, dw.add, x.rows, W,
                              c.scratch());
  }
};

/// h = a + b, n = RmsNorm(h), in one pass: the residual join before a half of a transformer block.
/// a, b, h, n: rows × W.
template <int W, RmsNormOptions O = {}>
struct AddRmsNorm {
  using Norm = RmsNorm<W, O>;
  static constexpr std::array in{W, W};
  static constexpr std::array out{W, W};
  static constexpr bool cheap = true;
  template <class T>
  using Params = typename Norm::template Params<T>;
  template <class T, class Statistic>
  struct Saved {
    T h;
    Statistic inverse;
  };
  static constexpr Params<Param> params = Norm::params;
  static constexpr Saved<Keep, Keep> saved{output(0), statistic()};
  static constexpr std::int64_t scratch(std::int64_t) { return kernel::rms_norm_scratch(W); }

  static void forward(auto& c) {
    auto a = c.x(0);
    kernel::add_rms_norm_forward(c.stream(), a.data, c.x(1).data, c.weights.weight.data,
                                 c.y(0).data, c.y(1).data, c.saved.inverse.data, a.rows, W, O.eps);
  }
  static void backward(auto& c) {
    auto h = c.saved.h, da = c.dx(0), db = c.dx(1);
    auto first = da ? da : db, second = da ? db : da;  // either may be unwanted
    auto dw = c.gradients.weight;
    kernel::rms_norm_backward(c.stream(), h.data, c.weights.weight.data, c.saved.inverse.data,
                              c.dy(1).data, c.dy(0).data, first.data, second.data, first.add,
                              second.add, dw.data, dw.add, h.rows, W, c.scratch());
  }
};

}  // namespace sinter
