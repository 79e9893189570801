// SPDX-License-Identifier: Apache-2.0
// Rules for the model of a recipe whose data are pairs of a text and its reply.
#pragma once
#include "sinter/policy/policy_facts.hpp"
#include "sinter/policy/rules.hpp"
#include "sinter/program/padding.hpp"

namespace sinter::detail {

/// A rule of the model: it takes the tokens of an encoder, those of a decoder, and the decoder's
/// targets.
struct PairsAreTaken {
  static constexpr bool holds(const Model& model) {
    constexpr External wanted[] = {{1, 0, false}, {0, 0, false}, {0, 0, true}};
    if (model.externals.size() != 3) return false;
    for (int k = 0; k < 3; ++k) {
      const External& input = model.externals[k];
      if (input.axis != wanted[k].axis || input.width != 0 || input.targets != wanted[k].targets)
        return false;
    }
    return true;
  }
  template <class R>
  static auto enforce() {
    static_assert(sizeof(R) == 0,
                  "DialoguePairs: the model does not read a text and write its reply. Why: a batch "
                  "is the tokens of an encoder on axis 1, then those of a decoder and their "
                  "targets on axis 0. Fix: a model whose trace takes g.tokens(1), g.tokens(0) and "
                  "g.targets(0), in this order; or Dialogue, for a model that reads both as one "
                  "sequence, such as Gpt2.");
  }
};
SINTER_MODEL_RULE(RepliesArePredicted, !has_objective<R>(),
                  "DialoguePairs: an objective with replies. Why: an objective such as MaskedLm "
                  "says which tokens of one sequence are hidden and predicted, and these data have "
                  "the reply predicted from another. Fix: leave the objective out.");
SINTER_MODEL_RULE(
    PaddingIsSkipped, !pads_sequences<R>() || !reads_padding(model),
    "DialoguePairs: the batching pads, and a layer of the model would see padding. Why: it mixes "
    "the rows of a text on axis 1, and does not state that it leaves the padding behind them out. "
    "Fix: leave the batching out, which is Packed; or a layer with skips_padding, such as "
    "SelfAttention or CrossAttention (docs/add_a_layer.md).");

}  // namespace sinter::detail
