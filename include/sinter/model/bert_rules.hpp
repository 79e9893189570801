// SPDX-License-Identifier: Apache-2.0
// Rules of recipes with Bert or DistilBert.
#pragma once
#include "sinter/policy/concepts.hpp"
#include "sinter/policy/policy_facts.hpp"

namespace sinter::bert {

/// A rule: all heads are equally wide.
struct HeadsDivideWidth {
  template <class R>
  static constexpr bool holds = R::model::options.width % R::model::options.heads == 0;
  template <class R>
  static auto enforce() {
    static_assert(holds<R>,
                  "Bert, DistilBert: heads does not divide width. Why: each head attends with "
                  "width / heads numbers. Fix: choose a width that is a multiple of heads, such as "
                  "64 for each.");
  }
};
/// A rule: each position in a sequence has an embedding.
struct ContextWithinPositions {
  template <class R>
  static constexpr bool holds = R::data::context <= R::model::options.positions;
  template <class R>
  static auto enforce() {
    static_assert(holds<R>,
                  "Bert, DistilBert: the data's context is beyond the model's positions. Why: each "
                  "place in a sequence has a learned embedding, and there are only `positions` of "
                  "them. Fix: a larger .positions in the model, or a smaller .context in the "
                  "data.");
  }
};
/// A rule: each id of the data has an embedding.
struct VocabularyHoldsData {
  template <class R>
  static constexpr bool holds = R::data::vocabulary <= R::model::options.vocabulary;
  template <class R>
  static auto enforce() {
    static_assert(holds<R>,
                  "Bert, DistilBert: the model's vocabulary is smaller than the data's. Why: the "
                  "data has ids that the model has no embedding for. Fix: make .vocabulary at "
                  "least that of the data.");
  }
};
/// A rule: there are at least two classes, or none.
struct LabelsDiffer {
  template <class R>
  static constexpr bool holds = R::model::options.labels != 1;
  template <class R>
  static auto enforce() {
    static_assert(holds<R>,
                  "Bert, DistilBert: there is one label. Why: each sequence is of one of `labels` "
                  "classes, and of one class alone there is nothing to learn. Fix: at least "
                  ".labels = 2, or leave it out to predict hidden tokens.");
  }
};

/// True if a batch holds only tokens and one target for each.
template <class R>
constexpr bool has_tokens_alone() {
  if constexpr (requires { bool(R::model::options.pairs); }) {
    if (R::model::options.pairs) return false;
  }
  return R::model::options.labels == 0;
}

/// A rule: an objective gets batches of tokens with one target each.
struct ObjectiveHasTargets {
  template <class R>
  static constexpr bool holds = has_tokens_alone<R>() || !has_objective<R>();
  template <class R>
  static auto enforce() {
    static_assert(holds<R>,
                  "Bert, DistilBert: an objective with labels or pairs. Why: an objective such as "
                  "MaskedLm prepares batches of tokens and one target for each, without types of "
                  "tokens. Fix: leave out .labels and .pairs, or the objective.");
  }
};

/// A rule: no row attends to padding.
struct SequencesAreWhole {
  template <class R>
  static constexpr bool holds = !pads_sequences<R>();
  template <class R>
  static auto enforce() {
    static_assert(holds<R>,
                  "Bert, DistilBert: the batching pads sequences. Why: each row sees its whole "
                  "sequence, and would see the padding behind it, too; there is no attention mask, "
                  "as sequences may have lengths of their own. Fix: leave the batching out, which "
                  "is Packed.");
  }
};

/// All rules of Bert and DistilBert.
using Rules = RuleList<HeadsDivideWidth, ContextWithinPositions, VocabularyHoldsData, LabelsDiffer,
                       ObjectiveHasTargets, SequencesAreWhole>;

}  // namespace sinter::bert
