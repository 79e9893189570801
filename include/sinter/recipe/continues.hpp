// SPDX-License-Identifier: Apache-2.0
// Whether a model continues texts with a key-value cache: each row passes through it once.
#pragma once
#include "sinter/recipe/plan.hpp"

namespace sinter::detail {

/// Why a model cannot continue texts with a cache.
struct ContinuationFault {
  const char* what = nullptr;  ///< null if it can
  const char* unit = "";       ///< name of the unit
  const char* node = "";       ///< name of the layer call in it
};

/// Finds what keeps a node from continuing texts. locals: those of its block.
constexpr const char* fault_of(std::span<const Local> locals, const Node& node) {
  const Layer& layer = *node.layer;
  const auto is_on_other_side = [&](int v) {
    return locals[std::size_t(v)].axis % token_axes == 1;
  };
  if (is_on_other_side(node.out)) return nullptr;  // it is read whole
  if (layer.extends) return nullptr;
  if (layer.causal) return "a causal layer has no extend()";
  if (layer.bidirectional) return "a layer reads rows that follow";
  if (layer.pools && !layer.takes_last) return "a layer pools rows, not the last";
  for (int k = 0; k < layer.inputs; ++k)
    if (is_on_other_side(node.in[std::size_t(k)])) return "a layer that joins sides lacks extend()";
  return nullptr;
}

/// Finds what keeps a model for prediction from continuing texts of `vocabulary` tokens.
constexpr ContinuationFault continuation_fault(const Model& model, int vocabulary) {
  if (vocabulary < 1) return {"the data have no vocabulary"};
  if (model.results.size() != 1) return {"predict() has not one result"};
  const Local& logits = model.local(model.results[0]);
  if (logits.axis != pooled(0) || logits.width < vocabulary)
    return {"no logits of what follows a text"};
  for (const External& input : model.externals)
    if (input.width > 0 || input.axis >= token_axes) return {"an input is not a token"};
  for (const Unit& unit : model.units) {
    const Block& block = model.blocks[std::size_t(unit.block)];
    const auto locals = model.locals.subspan(std::size_t(block.first_local));
    for (const Node& node :
         model.nodes.subspan(std::size_t(block.first_node), std::size_t(block.nodes)))
      if (const char* what = fault_of(locals, node)) return {what, unit.name, node.name};
  }
  return {};
}

/// Why the model of the recipe R cannot continue texts with a cache.
template <class R>
inline constexpr ContinuationFault continuation_fault_of = continuation_fault(
    Traced<typename Planned<R>::type, PredictionTrace>::model, R::data::vocabulary);

template <class R, Text What, Text Unit, Text Node>
auto the_model_does_not_continue_texts() {
  static_assert(sizeof(R) == 0,
                "Sinter: a Generator cannot continue texts with this recipe's model. What: the "
                "reason, the Unit and the layer's name (Node) are in this error. Why: each row "
                "passes through the model once, so a layer that mixes rows keeps what later rows "
                "need. Fix: give the layer `cached` and extend(c), see docs/add_a_layer.md; or "
                "generate with a Trainer, which reads the whole text for each token.");
}

/// True if the model of the recipe R continues texts with a cache; otherwise also makes one compile error.
template <class R>
constexpr bool continues_texts() {
  constexpr ContinuationFault fault = continuation_fault_of<R>;
  if constexpr (fault.what) {
    constexpr std::string_view what = fault.what, unit = fault.unit, node = fault.node;
    (void)&the_model_does_not_continue_texts<
        R, Text<what.size() + 1>(what), Text<unit.size() + 1>(unit), Text<node.size() + 1>(node)>;
  }
  return !fault.what;
}

}  // namespace sinter::detail
