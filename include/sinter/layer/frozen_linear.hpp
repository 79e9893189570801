// SPDX-License-Identifier: Apache-2.0
// A linear layer whose parameters are not trained.
#pragma once
#include "sinter/kernels/int8.hpp"
#include "sinter/layer/linear.hpp"
#include "sinter/layer/lora_options.hpp"

namespace sinter::detail {

/// Linear<In, Out, O>, with the same parameters in files, which stay as they are: y = x W + b. Its
/// backward computes dx = dy Wᵀ alone, so nothing is kept for it.
///
/// With LoraBase::int8 and an In that groups of 32 divide, W is stored in blocks of int8
/// (kernel::Int8Matrix). Each product makes all of W in the compute type first, in scratch, as QLoRA does
/// with four bits (Dettmers et al. 2023). So activations stay as exact as they are, and the bits are
/// those of a Linear of WeightLayout::out_in with these values. ElementBytes: size of the compute type.
template <int In, int Out, LinearOptions O, LoraBase Base, int ElementBytes>
struct FrozenLinear {
  using Plain = Linear<In, Out, O>;
  static constexpr int group = 32;
  static constexpr bool in_int8 = Base == LoraBase::int8 && In % group == 0;

  static constexpr std::array in{In};
  static constexpr std::array out{Out};
  /// The weight and, if O.has_bias, the bias.
  template <class T>
  using Params = typename Plain::template Params<T>;
  static constexpr Params<Param> params = [] {
    Params<Param> all = Plain::params;
    if (in_int8)
      all.weight.int8 = {kernel::int8_bytes(Out, In, group) / ElementBytes, group, Plain::as_is};
    return all;
  }();
  static constexpr std::int64_t flops(std::int64_t) { return Plain::flops(0); }
  /// W, if it is in int8. Activations are not larger than statistics.
  template <class P>
  static constexpr std::int64_t scratch(std::int64_t) {
    constexpr auto of_weight = std::int64_t(sizeof(typename P::compute)) * In * Out;
    constexpr auto element = std::int64_t(sizeof(typename P::statistic));
    return in_int8 ? (of_weight + element - 1) / element : 0;
  }

  static void forward(auto& c) { product(c, c.x(), c.y(), c.scratch()); }
  static void backward(auto& c) {
    if (auto dx = c.dx()) operand_gradient(c, c.dy(), dx, c.scratch());
  }

  /// y = x W + b, with the weights of a context. scratch: as many elements as scratch() says.
  static void product(auto& c, const auto& x, const auto& y, [[maybe_unused]] auto* scratch) {
    if constexpr (in_int8) {
      kernel::matmul_bias(c.stream(), x, transposed(values(c, scratch)), bias(c), y);
    } else {
      Plain::product(c, x, y);
    }
  }
  /// dx = dy Wᵀ, likewise.
  static void operand_gradient(auto& c, const auto& dy, const auto& dx,
                               [[maybe_unused]] auto* scratch) {
    if constexpr (in_int8) {
      kernel::matmul(c.stream(), dy, values(c, scratch), dx);
    } else {
      Plain::operand_gradient(c, dy, dx);
    }
  }

 private:
  static auto bias(auto& c) { return LinearParams<O.has_bias>::bias(c.weights); }
  /// The transpose of W in the compute type, in scratch.
  static auto values(auto& c, auto* scratch) {
    using T = typename std::remove_cvref_t<decltype(c)>::compute;
    const Tensor all(reinterpret_cast<T*>(scratch), Out, In);
    kernel::int8_values(c.stream(),
                        {reinterpret_cast<const std::byte*>(c.weights.weight.data), Out, In, group},
                        all);
    return all;
  }
};

}  // namespace sinter::detail
