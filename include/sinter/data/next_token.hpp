// SPDX-License-Identifier: Apache-2.0
// Rules for the model of a recipe whose targets are the next tokens.
#pragma once
#include "sinter/policy/policy_facts.hpp"
#include "sinter/policy/rules.hpp"

namespace sinter::detail {

/// True if a row on the axis of targets sees those that follow it.
constexpr bool sees_ahead(const Model& model) {
  for (const External& input : model.externals)
    for (const Block& block : model.blocks)
      for (const Node& node : model.nodes.subspan(block.first_node, block.nodes))
        if (input.targets && node.layer->bidirectional &&
            model.locals[block.first_local + node.out].axis == input.axis)
          return true;
  return false;
}

SINTER_MODEL_RULE(
    NextTokenIsUnseen, has_objective<R>() || !sees_ahead(model),
    "The model sees the token that it is to predict. Why: it has attention to both sides, and the "
    "targets of these data are the next tokens, which it would only copy. Fix: CausalSelfAttention "
    "in place of SelfAttention on the axis of the targets; or, with data on one axis, MaskedLm<> "
    "in the recipe, which hides tokens and has those predicted.");
SINTER_MODEL_RULE(
    TokensAreOnOneAxis, !model.has_second_axis(),
    "The model has an input on axis 1, and these data have one sequence at a time. Why: an encoder "
    "would read what its decoder is to write, and the model would only copy it. Fix: data of "
    "pairs, such as DialoguePairs, or a model on one axis, such as Gpt2.");

/// The rules of data policies whose targets are the next tokens of one sequence.
using NextTokenRules = RuleList<TokensAreOnOneAxis, NextTokenIsUnseen>;

}  // namespace sinter::detail
