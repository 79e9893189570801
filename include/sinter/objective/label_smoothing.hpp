// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/policy/concepts.hpp"
#include "sinter/program/cross_entropy.hpp"

namespace sinter {

namespace slot {
/// The slot of LabelSmoothing.
struct label_smoothing {
  static constexpr std::string_view name = "label_smoothing";
  static constexpr bool decisive = false;
};
}  // namespace slot

struct LabelSmoothingOptions {
  double factor =
      0.1;  ///< the share of a target that is divided evenly among all classes or tokens
  SINTER_FIELDS((factor).at_least(0).below(1).adjustable())
};

namespace detail {
SINTER_MODEL_RULE(
    SmoothedLossIsACrossEntropy, losses_of(model).cross_entropies > 0,
    "LabelSmoothing: the model has no cross-entropy of ids. Why: it divides a part of the target "
    "among all classes or tokens, and this loss has no classes, or is one that knows nothing of "
    "it. "
    "Fix: leave it out, or take a model that ends in LinearCrossEntropy, LinearBiasCrossEntropy or "
    "CrossEntropy, such as Gpt2 or Mlp<{.classifier = true}>.");
}  // namespace detail

/// Label smoothing (Szegedy et al. 2016): a target is 1 - factor of its class or token, and factor
/// / classes of each. It is label_smoothing of PyTorch's cross_entropy, with the mean over
/// predictions. The loss of a training step is the smoothed one. Evaluations report the plain
/// cross-entropy, so that perplexity and the choice of the best checkpoint mean what they do
/// without it.
template <LabelSmoothingOptions O = {}>
struct LabelSmoothing {
  using slot = slot::label_smoothing;
  using Options = LabelSmoothingOptions;
  using model_rules = RuleList<detail::SmoothedLossIsACrossEntropy>;
  static constexpr Options options = O;

  static constexpr double label_smoothing(const Options& o) { return o.factor; }
};

}  // namespace sinter
