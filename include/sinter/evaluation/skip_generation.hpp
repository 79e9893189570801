// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/evaluation/evaluate.hpp"

namespace sinter {

namespace detail {
SINTER_RULE(
    NothingNeedsTexts, !has_text_metric<R>(),
    "SkipGeneration: a metric of the recipe is of texts. Why: evaluations write none, so that "
    "it would have nothing to score. Fix: leave the metrics of texts out, such as Bleu, "
    "RougeL, TokenF1, ExactMatch and Distinct; or put Evaluate in place of SkipGeneration.");
}  // namespace detail

/// Evaluations that write nothing, and say so: ParlAI's --skip-generation. A recipe without Evaluate writes
/// nothing either. To leave generation out of one run alone, take the flag --skip-generation of `train` and
/// `eval`. No checkpoint remembers either.
struct SkipGeneration {
  using slot = slot::evaluation;
  using rules = RuleList<detail::NothingNeedsTexts>;
};

}  // namespace sinter
