// SPDX-License-Identifier: Apache-2.0
// Rules of recipes with Bert or DistilBert.
#pragma once
#include "sinter/model/encoder_rules.hpp"

namespace sinter::detail::bert {

SINTER_ENCODER_RULES("Bert, DistilBert");

/// True if labels tell classes apart, of which there must be two.
template <class R>
constexpr bool has_exclusive_classes() {
  constexpr LabelKind kind = R::model::options.label_kind;
  return kind == LabelKind::one_class || kind == LabelKind::class_of_token;
}

SINTER_RULE(LabelsDiffer, R::model::options.labels != 1 || !has_exclusive_classes<R>(),
            "Bert, DistilBert: there is one label. Why: each sequence, or token, is of one of "
            "`labels` classes, and of one class alone there is nothing to learn. Fix: at least "
            ".labels = 2; a number to learn has .label_kind = LabelKind::numbers; or leave .labels "
            "out to predict hidden tokens.");
SINTER_RULE(KindIsOfLabels,
            R::model::options.labels > 0 || R::model::options.label_kind == LabelKind::one_class,
            "Bert, DistilBert: .label_kind without .labels. Why: it says what the labels are, and "
            "without them the model predicts hidden tokens. Fix: .labels, the number of classes or "
            "of numbers; or leave .label_kind out.");

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

/// All rules of Bert and DistilBert.
using Rules = RuleList<HeadsDivideWidth, ContextWithinPositions, VocabularyHoldsData, LabelsDiffer,
                       KindIsOfLabels, ObjectiveHasTargets, SequencesAreWhole>;

}  // namespace sinter::detail::bert
