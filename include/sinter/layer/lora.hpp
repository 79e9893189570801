// SPDX-License-Identifier: Apache-2.0
// Low-rank adaptation of linear layers (Hu et al. 2021).
#pragma once
#include "sinter/kernels/dropout.hpp"
#include "sinter/layer/frozen_linear.hpp"
#include "sinter/layer/init.hpp"
#include "sinter/layer/lora_options.hpp"

namespace sinter {

namespace detail {

/// The linear layer L with an adapter. ElementBytes: size of the compute type.
template <class L, LoraOptions O, int ElementBytes>
struct LoraOf;

/// The layer that stands for L where its parameters are not trained, and no adapter is beside them: L
/// itself if it is no linear layer.
template <class L, LoraBase Base, int ElementBytes>
struct FrozenOf : std::type_identity<L> {};
template <int In, int Out, LinearOptions O, LoraBase Base, int ElementBytes>
struct FrozenOf<Linear<In, Out, O>, Base, ElementBytes>
    : std::type_identity<FrozenLinear<In, Out, O, Base, ElementBytes>> {};

/// y = x W + b + s B(A(dropout(x))), where W and b are those of Linear<In, Out, O> and stay as they
/// are. x: rows × In, y: rows × Out, A: rank × In, B: Out × rank, s: alpha / rank, or alpha / √rank.
/// A starts as a torch.nn.Linear does, B with zeros.
template <int In, int Out, LinearOptions O, LoraOptions Adapter, int ElementBytes>
struct LoraOf<Linear<In, Out, O>, Adapter, ElementBytes> {
  using Base = FrozenLinear<In, Out, O, Adapter.base, ElementBytes>;
  static constexpr int rank = Adapter.rank;
  static constexpr float probability = float(Adapter.dropout);
  static constexpr double factor =
      Adapter.alpha / (Adapter.rslora ? rounded_square_root(Adapter.rank) : double(Adapter.rank));

  static constexpr std::array in{In};
  static constexpr std::array out{Out};
  static constexpr Param a =
      Param::matrix("lora_A.weight", rank, In, Init::uniform(float(1 / square_root(In))))
          .of_adapter();
  static constexpr Param b = Param::matrix("lora_B.weight", Out, rank, Init::zeros).of_adapter();

  template <bool HasBias, int = 0>
  struct ParamsOf {
    template <class T>
    struct Params {
      T weight, bias, a, b;
    };
    static constexpr Params<Param> all{Base::params.weight, Base::params.bias, a, b};
  };
  template <int Unused>
  struct ParamsOf<false, Unused> {
    template <class T>
    struct Params {
      T weight, a, b;
    };
    static constexpr Params<Param> all{Base::params.weight, a, b};
  };
  /// The parameters of the linear layer, A and B.
  template <class T>
  using Params = typename ParamsOf<O.has_bias>::template Params<T>;
  /// The operand, and s A(dropout(x)).
  template <class T, class Statistic>
  struct Saved {
    T x, inner;
  };
  static constexpr Params<Param> params = ParamsOf<O.has_bias>::all;
  static constexpr Saved<Keep, Keep> saved{Keep::input(), Keep::own(rank)};
  static constexpr bool fan_in_fan_out = Base::Plain::as_is;
  static constexpr std::int64_t untrained_flops = Base::flops(0);
  static constexpr std::int64_t flops(std::int64_t) {
    return untrained_flops + std::int64_t(2) * rank * (In + Out);
  }
  /// The gradient of `inner`, with dropout a tensor as wide as x, and what the base needs.
  template <class P>
  static constexpr std::int64_t scratch(std::int64_t rows) {
    return own_scratch(rows) + Base::template scratch<P>(rows);
  }

  static void forward(auto& c) {
    auto y = c.y();
    auto inner = c.saved.inner;
    Base::product(c, c.x(), y, scratch_of_base(c, y.rows));
    kernel::matmul(c.stream(), dropped(c, c.x()), transposed(c.weights.a), inner);
    multiply(c, inner);
    y.add = true;
    kernel::matmul(c.stream(), inner, transposed(c.weights.b), y);
  }
  static void backward(auto& c) {
    auto dy = c.dy(), dx = c.dx();
    kernel::matmul(c.stream(), transposed(dy), c.saved.inner, c.gradients.b);
    const Tensor d_inner(in_scratch(c, 0), dy.rows, rank);
    kernel::matmul(c.stream(), dy, c.weights.b, d_inner);
    multiply(c, d_inner);
    kernel::matmul(c.stream(), transposed(d_inner), dropped(c, c.saved.x), c.gradients.a);
    if (!dx) return;
    Base::operand_gradient(c, dy, dx, scratch_of_base(c, dy.rows));
    dx.add = true;
    if (drops(c)) {
      const Tensor wide(in_scratch(c, inner_elements(dy.rows)), dy.rows, In);
      kernel::matmul(c.stream(), d_inner, c.weights.a, wide);
      kernel::dropout(c.stream(), {wide}, dx, c.dropout(probability));
    } else {
      kernel::matmul(c.stream(), d_inner, c.weights.a, dx);
    }
  }

 private:
  /// Elements of the gradient of `inner`; what follows it begins at 64 bytes.
  static constexpr std::int64_t inner_elements(std::int64_t rows) {
    return (rows * rank + 15) / 16 * 16;
  }
  /// Elements of scratch before that of the base, which begins at 64 bytes.
  static constexpr std::int64_t own_scratch(std::int64_t rows) {
    return inner_elements(rows) + (probability > 0 ? (rows * In + 15) / 16 * 16 : 0);
  }
  static auto* scratch_of_base(auto& c, int rows) { return c.scratch() + own_scratch(rows); }
  static bool drops(auto& c) { return probability > 0 && c.training(); }
  /// Scratch from an element on. Activations are not larger than statistics.
  template <class L, class P>
  static auto* in_scratch(Context<L, P>& c, std::int64_t element) {
    static_assert(sizeof(typename P::compute) <= sizeof(typename P::statistic));
    return reinterpret_cast<typename P::compute*>(c.scratch() + element);
  }
  /// x or, in training with dropout, what that leaves of it.
  template <class T>
  static T dropped(auto& c, T x) {
    if (!drops(c)) return x;
    T left(in_scratch(c, inner_elements(x.rows)), x.rows, In);
    kernel::dropout(c.stream(), {x}, left, c.dropout(probability));
    return left;
  }
  template <class T>
  static void multiply(auto& c, Tensor<T> x) {
    kernel::scale(c.stream(), x.data, kernel::Wide<T>(factor), x.data, x.size());
  }
};

}  // namespace detail
}  // namespace sinter
