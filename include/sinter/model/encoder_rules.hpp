// SPDX-License-Identifier: Apache-2.0
// Rules that recipes with Bert, DistilBert and Roberta share.
#pragma once
#include "sinter/base/label_kind.hpp"
#include "sinter/policy/concepts.hpp"
#include "sinter/policy/policy_facts.hpp"

/// Defines the rules that encoders share. Their messages begin with NAMES, the names of the models.
#define SINTER_ENCODER_RULES(NAMES)                                                                \
  SINTER_RULE(HeadsDivideWidth, R::model::options.width % R::model::options.heads == 0,            \
              NAMES                                                                                \
              ": heads does not divide width. Why: each head attends with width / heads numbers. " \
              "Fix: choose a width that is a multiple of heads, such as 64 for each.");            \
  SINTER_RULE(ContextWithinPositions, R::data::context <= R::model::options.positions,             \
              NAMES                                                                                \
              ": the data's context is beyond the model's positions. Why: each place in a "        \
              "sequence has a learned embedding, and there are only `positions` of them. Fix: a "  \
              "larger .positions in the model, or a smaller .context in the data.");               \
  SINTER_RULE(VocabularyHoldsData, R::data::vocabulary <= R::model::options.vocabulary,            \
              NAMES                                                                                \
              ": the model's vocabulary is smaller than the data's. Why: the data has ids that "   \
              "the model has no embedding for. Fix: make .vocabulary at least that of the data."); \
  SINTER_RULE(SequencesAreWhole, !pads_sequences<R>(),                                             \
              NAMES                                                                                \
              ": the batching pads sequences. Why: each row sees its whole sequence, and would "   \
              "see the padding behind it, too; there is no attention mask, as sequences may have " \
              "lengths of their own. Fix: leave the batching out, which is Packed.")
