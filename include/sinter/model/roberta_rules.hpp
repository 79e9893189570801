// SPDX-License-Identifier: Apache-2.0
// Rules of recipes with Roberta.
#pragma once
#include "sinter/model/encoder_rules.hpp"

namespace sinter::detail::roberta {

SINTER_ENCODER_RULES("Roberta");
SINTER_RULE(LabelsDiffer,
            R::model::options.labels != 1 || R::model::options.label_kind != LabelKind::one_class,
            "Roberta: there is one label. Why: each sequence is of one of `labels` classes, and of "
            "one class alone there is nothing to learn. Fix: at least .labels = 2; a number to "
            "learn has .label_kind = LabelKind::numbers; or leave .labels out to predict hidden "
            "tokens.");
SINTER_RULE(
    KindIsOfLabels,
    R::model::options.label_kind == LabelKind::one_class ||
        (R::model::options.labels > 0 && R::model::options.label_kind != LabelKind::class_of_token),
    "Roberta: .label_kind without .labels, or of tokens. Why: it says what the labels of "
    "sequences are, and Roberta has no head for classes of tokens. Fix: .labels, the number "
    "of classes or of numbers, with one_class, several_classes or numbers; or Bert for "
    "classes of tokens.");
SINTER_RULE(ObjectiveHasTargets, R::model::options.labels == 0 || !has_objective<R>(),
            "Roberta: an objective with labels. Why: an objective such as MaskedLm prepares "
            "batches of tokens and one target for each. Fix: leave out .labels, or the objective.");

/// True unless the data put other marks around texts than RoBERTa knows.
template <class R>
constexpr bool has_its_marks() {
  if constexpr (requires { name_of(R::data::options.marks); }) {
    return name_of(R::data::options.marks) == "roberta";
  } else {
    return true;
  }
}
SINTER_RULE(MarksAreItsOwn, has_its_marks<R>(),
            "Roberta: the data put BERT's marks around texts. Why: RoBERTa has learned <s> a </s>, "
            "and <s> a </s></s> b </s> for a pair; with other marks it reads what it has never "
            "seen. Fix: .marks = TextMarks::roberta in LabelledText.");
SINTER_RULE(PadIsAnId, R::model::options.pad < R::model::options.vocabulary,
            "Roberta: pad is beyond the vocabulary. Why: it is an id of the model's embedding, "
            "behind which positions are counted, and which the exported config.json names. Fix: an "
            "id below .vocabulary, such as 1.");

/// All rules of Roberta.
using Rules =
    RuleList<HeadsDivideWidth, ContextWithinPositions, VocabularyHoldsData, LabelsDiffer,
             KindIsOfLabels, ObjectiveHasTargets, SequencesAreWhole, MarksAreItsOwn, PadIsAnId>;

}  // namespace sinter::detail::roberta
