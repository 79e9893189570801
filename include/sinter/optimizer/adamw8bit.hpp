// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/kernels/adamw8bit.hpp"
#include "sinter/optimizer/rules.hpp"
#include "sinter/policy/concepts.hpp"

namespace sinter {

/// AdamW with 8-bit moments by block-wise dynamic quantization (Dettmers et al. 2022): 256 elements
/// share a scale, as in bitsandbytes' AdamW8bit. Embeddings and parameters of fewer than 4096
/// elements keep fp32 moments. A step whose gradients are not finite is skipped and reported, as
/// with every optimizer.
template <AdamWOptions O = {}>
struct AdamW8bit {
  using slot = slot::optimizer;
  using Options = AdamWOptions;
  using rules = RuleList<detail::MastersAreFloat, detail::NotClippedByValue>;
  static constexpr Options options = O;
  static constexpr Offer offered{"AdamW8bit<>", 100};
  static constexpr bool by_parameter = true;
  static constexpr bool casts = true;

  /// True if a parameter's moments are 8-bit.
  static constexpr bool quantizes(const detail::Layer& layer, int number) {
    const bool embedding = layer.ids_below > 0 && !layer.loss;
    return layer.params[number].size() >= 4096 && !embedding;
  }
  /// The shape of exp_avg and of exp_avg_sq.
  static constexpr detail::StateShape of_moment(const detail::Layer& layer, int number) {
    const Param& p = layer.params[number];
    return {quantizes(layer, number) ? Element::u8 : Element::f32, p.rows, p.columns};
  }
  /// The shape of exp_avg_scale and of exp_avg_sq_scale; empty if the moments are not quantized.
  static constexpr detail::StateShape of_scales(const detail::Layer& layer, int number) {
    return {Element::f32, quantizes(layer, number) ? 1 : 0,
            int(kernel::adamw8bit_scales(layer.params[number].size()))};
  }
  static constexpr std::array regions{Region{"exp_avg", Type::state, nullptr, of_moment},
                                      Region{"exp_avg_sq", Type::state, nullptr, of_moment},
                                      Region{"exp_avg_scale", Type::state, nullptr, of_scales},
                                      Region{"exp_avg_sq_scale", Type::state, nullptr, of_scales}};

  static constexpr double learning_rate(const Options& o) { return o.lr; }
  static void update(const Options& o, const auto& s) {
    auto state = [&](int region) { return s.template part<float>(region); };
    auto codes = [&](int region) { return s.template part<std::uint8_t>(region); };
    if (quantizes(s.layer, s.number)) {
      kernel::adamw8bit(o, s, {codes(0), codes(1), state(2), state(3)});
    } else {
      kernel::adamw(o, s.with_state({0, 1}));
    }
  }
};

}  // namespace sinter
