// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>

#include "sinter/metric/class_targets.hpp"
#include "sinter/metric/metric.hpp"
#include "sinter/policy/rules.hpp"
#include "sinter/program/cross_entropy.hpp"

namespace sinter {

namespace detail {
/// True if a name can be a key, a flag's value and a curve's name.
constexpr bool is_metric_name(std::string_view name) {
  return !name.empty() && name != "loss" && std::ranges::all_of(name, [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9') || letter == '_';
  });
}
template <class M>
concept AnyMetric = ClassMetric<M> || TokenMetric<M>;
template <class... M>
constexpr bool have_metric_names() {
  if constexpr ((AnyMetric<M> && ...)) {
    std::array<std::string_view, sizeof...(M)> names{M::name...};
    std::ranges::sort(names);
    return std::ranges::all_of(names, is_metric_name) &&
           std::ranges::adjacent_find(names) == names.end();
  }
  return true;  // the rule before says what is wrong
}
template <class M>
constexpr Metric metric_if_fit() {
  if constexpr (AnyMetric<M>) return metric_of<M>();
  return {};
}

template <class... M>
SINTER_RULE(MetricsAreMetrics, (sizeof...(M) > 0 && (AnyMetric<M> && ...)),
            "Metrics: the list is empty, or one of its types is no metric. Why: a metric has name, "
            "greater_is_better, sums(), add() and value(), all static, and nothing else; "
            "ClassMetric in sinter/metric/metric.hpp says their forms, and TokenMetric those of a "
            "metric of tokens. Fix: name metrics such as "
            "Accuracy or F1<>, or correct the member that is missing or has another form.");
template <class... M>
SINTER_RULE(
    MetricsHaveOwnNames, have_metric_names<M...>(),
    "Metrics: two metrics have one name, or a name is not of small letters, digits and '_', "
    "or is 'loss'. Why: logs and flags know a metric by its name. Fix: leave one out, or "
    "give the metric another name.");
template <bool HasClassMetric>
SINTER_MODEL_RULE(
    MetricsNeedClasses, !HasClassMetric || bool(class_targets(model)),
    "Metrics: the model does not learn classes. Why: these metrics compare the class that is "
    "predicted for a row or a sequence with the true one. Fix: leave Metrics out, or take a model "
    "of classes, such as Mlp<{.classifier = true}> or Bert<{.labels = 2}>; of a model of tokens, "
    "Metrics<TokenAccuracy>.");
template <bool HasTokenMetric>
SINTER_MODEL_RULE(
    MetricsNeedTokens,
    !HasTokenMetric || (losses_of(model).is_one_cross_entropy() && !class_targets(model)),
    "Metrics: the model does not learn tokens, and one of its metrics is of tokens. Why: such a "
    "metric counts beside the model's only loss, a cross-entropy of an id in each row. Fix: of a "
    "model of classes, Metrics<Accuracy>; else leave the metric out, or end the model in "
    "LinearCrossEntropy, LinearBiasCrossEntropy or CrossEntropy.");
}  // namespace detail

/// What an evaluation says beside the loss, such as Metrics<Accuracy, F1<>> of a model of classes,
/// or Metrics<TokenAccuracy> of one of tokens. With metrics of classes, each batch is predicted as
/// well as evaluated, so an evaluation takes about twice the time. The figures are in the log as
/// val_accuracy and so on, in `eval`, and may choose the best checkpoint (LoopOptions::best_by). A
/// model of classes has Accuracy if its recipe has no Metrics. docs/add_a_metric.md has one of your
/// own.
template <class... M>
struct Metrics {
  using slot = slot::metric;
  using rules = RuleList<detail::MetricsAreMetrics<M...>, detail::MetricsHaveOwnNames<M...>>;
  using model_rules =
      RuleList<detail::MetricsNeedClasses<(ClassMetric<M> || ...)>,
               detail::MetricsNeedTokens<((TokenMetric<M> && !ClassMetric<M>) || ...)>>;
  static constexpr std::array<detail::Metric, sizeof...(M)> metrics{detail::metric_if_fit<M>()...};
};

}  // namespace sinter
