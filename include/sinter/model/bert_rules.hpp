// SPDX-License-Identifier: Apache-2.0
// Rules of recipes with Bert or DistilBert.
#pragma once
#include "sinter/policy/concepts.hpp"
#include "sinter/policy/policy_facts.hpp"

namespace sinter::detail::bert {

SINTER_RULE(HeadsDivideWidth, R::model::options.width % R::model::options.heads == 0,
            "Bert, DistilBert: heads does not divide width. Why: each head attends with width / "
            "heads numbers. Fix: choose a width that is a multiple of heads, such as 64 for each.");
SINTER_RULE(ContextWithinPositions, R::data::context <= R::model::options.positions,
            "Bert, DistilBert: the data's context is beyond the model's positions. Why: each place "
            "in a sequence has a learned embedding, and there are only `positions` of them. Fix: a "
            "larger .positions in the model, or a smaller .context in the data.");
SINTER_RULE(
    VocabularyHoldsData, R::data::vocabulary <= R::model::options.vocabulary,
    "Bert, DistilBert: the model's vocabulary is smaller than the data's. Why: the data has ids "
    "that the model has no embedding for. Fix: make .vocabulary at least that of the data.");
SINTER_RULE(LabelsDiffer, R::model::options.labels != 1,
            "Bert, DistilBert: there is one label. Why: each sequence is of one of `labels` "
            "classes, and of one class alone there is nothing to learn. Fix: at least .labels = 2, "
            "or leave it out to predict hidden tokens.");

/// True if a batch holds only tokens and one target for each.
template <class R>
constexpr bool has_tokens_alone() {
  if constexpr (requires { bool(R::model::options.pairs); }) {
    if (R::model::options.pairs) return false;
  }
  return R::model::options.labels == 0;
}

SINTER_RULE(ObjectiveHasTargets, has_tokens_alone<R>() || !has_objective<R>(),
            "Bert, DistilBert: an objective with labels or pairs. Why: an objective such as "
            "MaskedLm prepares batches of tokens and one target for each, without types of tokens. "
            "Fix: leave out .labels and .pairs, or the objective.");
SINTER_RULE(SequencesAreWhole, !pads_sequences<R>(),
            "Bert, DistilBert: the batching pads sequences. Why: each row sees its whole sequence, "
            "and would see the padding behind it, too; there is no attention mask, as sequences "
            "may have lengths of their own. Fix: leave the batching out, which is Packed.");

/// All rules of Bert and DistilBert.
using Rules = RuleList<HeadsDivideWidth, ContextWithinPositions, VocabularyHoldsData, LabelsDiffer,
                       ObjectiveHasTargets, SequencesAreWhole>;

}  // namespace sinter::detail::bert
