// SPDX-License-Identifier: Apache-2.0
// A layer that LibTorch computes. This header includes no LibTorch header: a recipe that names such
// a layer compiles without LibTorch if the code of the layer is in another file.
#pragma once
#include <concepts>
#include <typeinfo>

#include "sinter/layer/members.hpp"

namespace sinter {

/// Describes a layer to its code, which makes an object for one of the layer's uses.
struct AutogradSpec {
  const std::type_info* type;     ///< F, for error messages
  std::span<const Param> params;  ///< parameters of F, in its order
  std::span<const int> in, out;   ///< widths of operands and results
  bool random;                    ///< true if forward may draw from LibTorch's generator
  Element compute, gradient;      ///< types of operands and weights, and of parameters' gradients
  Element master;                 ///< type of running values
};

namespace detail {
/// F has make(), which leads to its code.
template <class F>
concept HasAutogradCode = requires(const AutogradSpec& spec) {
  { F::make(spec) } -> std::same_as<std::unique_ptr<LayerObject>>;
};
}  // namespace detail

/// A layer that LibTorch computes, with its autograd for backward. F is a type with
///   in, out          the widths of operands and results, as in any layer
///   params           (optional) an array of Param, under the names that the module gives them;
///                    LibTorch's buffers are among them, as Param::running
///   make(spec)       static std::unique_ptr<LayerObject> make(const AutogradSpec&), which may be
///                    defined in another file: autograd::of_function() or autograd::of_module()
///                    (autograd/torch.hpp)
///   random           (optional) false promises that forward draws no random numbers, unlike
///                    dropout; ranks then need not take turns
/// F may state facts of layers, too: pools, takes_last, causal, bidirectional, ids_below, flops.
/// Parameters lie in the flat buffers, as in any layer. LibTorch computes in fp32, and with Fp64 in
/// double precision: narrower operands and weights are widened, and results are rounded. The random
/// numbers of dropout are a function of seed, step, place in the model and the first row of the
/// micro-batch. Running values change once in each micro-batch; a frozen unit computes as in
/// evaluation. The layer's temporary memory is not planned.
template <class F>
struct Autograd {
  // A member that F lacks is Nothing here, and refused as a layer's missing member is.
  /// Widths of the operands.
  static constexpr auto in = [] {
    if constexpr (requires { F::in; }) {
      return F::in;
    } else {
      return detail::Nothing{};
    }
  }();
  /// Widths of the results.
  static constexpr auto out = [] {
    if constexpr (requires { F::out; }) {
      return F::out;
    } else {
      return detail::Nothing{};
    }
  }();
  /// Parameters of F, if any.
  static constexpr auto params = [] {
    if constexpr (requires { F::params; }) {
      return F::params;
    } else {
      return std::array<Param, 0>{};
    }
  }();
  /// All operands except ids: LibTorch's graph, which forward leaves, reads them in place.
  static constexpr auto saved = [] {
    if constexpr (!detail::are_widths<decltype(in), std::size_t(detail::max_inputs)>) {
      return detail::Nothing{};
    } else {
      constexpr int count = int(in.size()) - int(std::ranges::count(in, 0));
      std::array<Keep, std::size_t(count)> keeps{};
      for (int i = 0, k = 0; i < int(in.size()); ++i)
        if (in[std::size_t(i)] > 0) keeps[std::size_t(k++)] = Keep::input(i);
      return keeps;
    }
  }();
  static constexpr bool unplanned = true;  ///< LibTorch allocates the graph
  /// True if F states Layer::pools.
  static constexpr bool pools = requires { requires F::pools; };
  static constexpr bool takes_last = requires { requires F::takes_last; };        ///< as F states
  static constexpr bool causal = requires { requires F::causal; };                ///< as F states
  static constexpr bool bidirectional = requires { requires F::bidirectional; };  ///< as F states
  /// The bound of ids that F states, or 0.
  static constexpr int ids_below = [] {
    if constexpr (requires { F::ids_below; }) return F::ids_below;
    return 0;
  }();
  /// The operations that F states, or 0.
  static constexpr std::int64_t flops(std::int64_t context, std::int64_t other) {
    return detail::flops_of<F>(context, other);
  }

  /// Makes the object of one use of the layer. P is the precision policy.
  template <class P>
  static std::unique_ptr<LayerObject> object() {
    constexpr bool draws_nothing = requires { requires !F::random; };
    if constexpr (detail::HasAutogradCode<F>) {
      return F::make({&typeid(F), params, in, out, !draws_nothing, element_of<typename P::compute>,
                      element_of<typename P::gradient>, element_of<typename P::master>});
    } else {
      static_assert(detail::HasAutogradCode<F>,
                    "Autograd: F does not say where its code is. Why: LibTorch's autograd "
                    "computes this layer, in the file that includes its headers. Fix: declare "
                    "static std::unique_ptr<LayerObject> make(const AutogradSpec&) in F, and "
                    "define it by autograd::of_function() or autograd::of_module<M>(); see "
                    "sinter/autograd/torch.hpp.");
      return nullptr;
    }
  }
};

}  // namespace sinter
