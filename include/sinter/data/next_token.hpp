// SPDX-License-Identifier: Apache-2.0
// What data whose targets are the next tokens demand of a model.
#pragma once
#include <algorithm>

#include "sinter/recipe/policy_facts.hpp"
#include "sinter/recipe/rules.hpp"

namespace sinter {

/// A rule of the model, for data policies whose targets are the next tokens: no row on the axis of
/// the targets sees those that follow it, unless a policy says what is predicted instead.
struct NextTokenIsUnseen {
  /// Whether a row on this axis sees those that follow it.
  static constexpr bool sees_ahead(const Model& model, int axis) {
    for (const Block& block : model.blocks)
      for (const Node& node : model.nodes.subspan(block.first_node, block.nodes))
        if (node.layer->bidirectional && model.locals[block.first_local + node.out].axis == axis)
          return true;
    return false;
  }
  template <class R>
  static constexpr bool holds(const Model& model) {
    return has_objective<R>() || std::ranges::none_of(model.externals, [&](const External& input) {
             return input.targets && sees_ahead(model, input.axis);
           });
  }
  template <class R>
  static auto enforce() {
    static_assert(sizeof(R) == 0,
                  "The model sees the token that it is to predict. Why: it has attention to both "
                  "sides, and the targets of these data are the next tokens, which it would only "
                  "copy. Fix: MaskedLm<> in the recipe, which hides tokens and has those "
                  "predicted, or CausalSelfAttention in place of SelfAttention.");
  }
};

}  // namespace sinter
