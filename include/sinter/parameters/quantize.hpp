// SPDX-License-Identifier: Apache-2.0
// Weights in blocks of int8 where a model predicts or continues texts.
#pragma once
#include "sinter/layer/int8.hpp"
#include "sinter/policy/concepts.hpp"

namespace sinter {

namespace slot {
/// The slot of Quantize: how weights are stored where a model is not trained.
struct quantization {
  static constexpr std::string_view name = "quantization";
  static constexpr bool decisive = false;
};
}  // namespace slot

struct QuantizeOptions {
  /// Numbers of a matrix's row that share a scale: 32, 64 or 128. More take less memory, and are
  /// less exact.
  int group = 32;
  SINTER_FIELDS((group).at_least(32).at_most(128))
};

namespace detail {
template <QuantizeOptions O>
SINTER_RULE(QuantizedInWholeVectors, (O.group == 32 || O.group == 64 || O.group == 128),
            "Quantize: group is none of 32, 64 and 128. Why: products take so many numbers at "
            "once. Fix: one of these; 32 is the most exact.");
SINTER_RULE(QuantizedOnHost, R::device::on_host,
            "Quantize: the recipe's device is a card. Why: products with int8 are written for the "
            "processor alone. Fix: leave Quantize out, or predict with a recipe for Cpu.");
}  // namespace detail

/// Stores the matrices of a Generator or a Predictor in blocks of int8, as llama.cpp's q8_0. `group` numbers along
/// the depth of a product share a scale of 16 bits; with 32 a weight takes 34 / 32 bytes. Products
/// round each `group` activations to int8, too, and sum exactly within a group.
///
/// It acts on Linear, Embedding and the heads over a vocabulary whose width is a multiple of
/// `group`; all else stays as the precision says, and so do layers with an adapter. A model without such
/// a layer does not compile. Training does not change, nor do its evaluations. The verbs `generate`,
/// `chat` and `predict` obey it, unless they get `--quantize none`.
template <QuantizeOptions O = {}>
struct Quantize {
  using slot = slot::quantization;
  using Options = QuantizeOptions;
  using rules = RuleList<detail::QuantizedInWholeVectors<O>, detail::QuantizedOnHost>;
  static constexpr Options options = O;

  /// The layer that stands for L in a Generator or a Predictor. P: the precision.
  template <class L, class P>
  using Stored = typename detail::Int8Of<L, O.group, int(sizeof(typename P::compute))>::type;
};

}  // namespace sinter
