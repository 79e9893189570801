// SPDX-License-Identifier: Apache-2.0
// Rules for the model of a recipe whose targets are the next tokens.
#pragma once
#include <algorithm>

#include "sinter/policy/policy_facts.hpp"
#include "sinter/policy/rules.hpp"

namespace sinter {

/// A rule of the model, for data policies whose targets are the next tokens. No row on the axis of
/// the targets sees those that follow it, unless an objective changes what is predicted.
struct NextTokenIsUnseen {
  /// True if a row on this axis sees those that follow it.
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
                  "copy. Fix: CausalSelfAttention in place of SelfAttention on the axis of the "
                  "targets; or, with data on one axis, MaskedLm<> in the recipe, which hides "
                  "tokens and has those predicted.");
  }
};

/// A rule of the model, for data policies of one sequence at a time: no input is on another axis.
struct TokensAreOnOneAxis {
  static constexpr bool holds(const Model& model) { return !model.has_second_axis(); }
  template <class R>
  static auto enforce() {
    static_assert(sizeof(R) == 0,
                  "The model has an input on axis 1, and these data have one sequence at a time. "
                  "Why: an encoder would read what its decoder is to write, and the model would "
                  "only copy it. Fix: data of pairs, such as DialoguePairs, or a model on one "
                  "axis, such as Gpt2.");
  }
};

/// The rules of data policies whose targets are the next tokens of one sequence.
using NextTokenRules = RuleList<TokensAreOnOneAxis, NextTokenIsUnseen>;

}  // namespace sinter
