// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/kernels/elementwise.hpp"
#include "sinter/kernels/matmul.hpp"
#include "sinter/layer/context.hpp"

namespace sinter {

/// How the weight of y = x W + b is stored.
enum class WeightLayout {
  in_out,  ///< as W (GPT-2's Conv1D)
  out_in,  ///< as the transpose of W (torch.nn.Linear)
};

struct LinearOptions {
  WeightLayout layout = WeightLayout::in_out;  ///< how the weight is stored
  Init weight = Init::normal(.02f);            ///< how the weight starts
  Init bias = Init::zeros;                     ///< how the bias starts
  /// True if the weight is a Param::hidden matrix. Set it to false for the first and the last layer
  /// of a model, which some optimizers, such as Muon, treat like embeddings and heads.
  bool hidden = true;
  bool has_bias = true;  ///< true if there is a bias
};

namespace detail {
/// The parameters of a Linear, of tensors T.
template <bool HasBias>
struct LinearParams {
  template <class T>
  struct Params {
    T weight, bias;
  };
  static constexpr Params<Param> params_of(Param weight, Param bias) { return {weight, bias}; }
  static auto bias(const auto& of) { return of.bias; }
};
template <>
struct LinearParams<false> {
  template <class T>
  struct Params {
    T weight;
  };
  static constexpr Params<Param> params_of(Param weight, Param) { return {weight}; }
  static auto bias(const auto& of) { return decltype(of.weight){}; }
};
}  // namespace detail

/// y = x W + b, or x W. x: rows × In, y: rows × Out, weight: In × Out or Out × In as the layout
/// says, bias: Out.
template <int In, int Out, LinearOptions O = {}>
struct Linear {
  static constexpr std::array in{In};
  static constexpr std::array out{Out};
  /// The weight and, if O.has_bias, the bias.
  template <class T>
  using Params = typename detail::LinearParams<O.has_bias>::template Params<T>;
  template <class T, class Statistic>
  struct Saved {
    T x;
  };
  /// True if the weight is stored as W, not as its transpose.
  static constexpr bool as_is = O.layout == WeightLayout::in_out;
  /// The weight in its stored layout.
  static constexpr Param stored =
      Param::matrix("weight", as_is ? In : Out, as_is ? Out : In, O.weight);
  static constexpr Params<Param> params = detail::LinearParams<O.has_bias>::params_of(
      O.hidden ? stored.hidden(In, Out) : stored, Param::vector("bias", Out, O.bias));
  static constexpr Saved<Keep, Keep> saved{Keep::input()};
  static constexpr std::int64_t flops(std::int64_t) { return std::int64_t(2) * In * Out; }

  static void forward(auto& c) { product(c, c.x(), c.y()); }
  static void backward(auto& c) {
    auto x = c.saved.x, dy = c.dy(), dx = c.dx();
    auto dw = c.gradients.weight;
    c.stream().together(double(dy.rows) * In * Out > kernel::matmul_grain, [&] {
      if (dx) operand_gradient(c, dy, dx);
      if (!dw) return;  // frozen
      if constexpr (as_is) {
        kernel::matmul(c.stream(), transposed(x), dy, dw);
      } else {
        kernel::matmul(c.stream(), transposed(dy), x, dw);
      }
      if constexpr (O.has_bias) kernel::column_sum(c.stream(), dy, c.gradients.bias);
    });
  }

  /// y = x W + b, with the weights of a context.
  static void product(auto& c, const auto& x, const auto& y) {
    kernel::matmul_bias(c.stream(), x, weight(c, false), bias(c.weights), y);
  }
  /// dx = dy Wᵀ, likewise.
  static void operand_gradient(auto& c, const auto& dy, const auto& dx) {
    kernel::matmul(c.stream(), dy, weight(c, true), dx);
  }

 private:
  static auto bias(const auto& of) { return detail::LinearParams<O.has_bias>::bias(of); }
  /// W, or its transpose if `transposed`, in either layout.
  static auto weight(auto& c, bool transposed) {
    kernel::Matrix w = c.weights.weight;
    w.transposed = transposed == as_is;
    return w;
  }
};

}  // namespace sinter
