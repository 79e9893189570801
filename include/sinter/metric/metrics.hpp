// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>

#include "sinter/metric/metric.hpp"
#include "sinter/metric/value_targets.hpp"
#include "sinter/policy/policy_facts.hpp"
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
concept AnyMetric = RowMetric<M> || TokenMetric<M> || TextMetric<M> || RankMetric<M>;
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
SINTER_RULE(
    MetricsAreMetrics, (sizeof...(M) > 0 && (AnyMetric<M> && ...)),
    "Metrics: the list is empty, or one of its types is no metric. Why: a metric has name, "
    "greater_is_better, sums(), add() and value(), all static, and nothing else; "
    "ClassMetric in sinter/metric/metric.hpp says their forms, and ClassSetMetric, "
    "NumberMetric, TokenMetric, TextMetric and RankMetric those of others. Fix: name metrics such "
    "as Accuracy, F1<> or Bleu, or correct the member that is missing or has another form.");
/// True unless M ranks among so few candidates that it says nothing.
template <class M>
constexpr bool ranks_among_enough() {
  if constexpr (RankMetric<M>) {
    if constexpr (requires { M::k; })
      return M::k >= 1 && M::k < M::candidates && M::candidates < 10000;
    return M::candidates >= 2;
  }
  return true;
}
template <class... M>
SINTER_RULE(
    MetricsRankAmongEnough, (ranks_among_enough<M>() && ...),
    "Metrics: a metric's k is below 1, or as large as the number of its candidates, or there are 1 "
    "or over 9999 of these. Why: of k candidates, each is among the first k. Fix: a smaller k, "
    "such "
    "as 1, 5 or 10, or more candidates, as in HitsAt<{.k = 10, .candidates = 100}>.");
template <class... M>
SINTER_RULE(
    MetricsHaveOwnNames, have_metric_names<M...>(),
    "Metrics: two metrics have one name, or a name is not of small letters, digits and '_', "
    "or is 'loss'. Why: logs and flags know a metric by its name. Fix: leave one out, or "
    "give the metric another name.");
template <bool HasTextMetric>
SINTER_RULE(
    MetricsNeedTexts, (!HasTextMetric || writes_replies<R>() || claims<R>("evaluation")),
    "Metrics: a metric is of texts, and evaluations of this recipe write none. Why: Bleu, "
    "RougeL, TokenF1, ExactMatch, Distinct and others score replies that the model writes to "
    "examples, and HitsAt ranks those of the examples. Fix: add Evaluate<{.examples = 200}>, with "
    "data of examples and a model of "
    "tokens; or leave these metrics out.");
/// True if a metric of classes fits what is learnt, or M is no such metric.
template <class M>
constexpr bool fits_classes(Learnt learnt) {
  return !ClassMetric<M> || learnt == Learnt::classes ||
         (ClassSetMetric<M> && learnt == Learnt::class_sets);
}
template <class... M>
SINTER_MODEL_RULE(
    MetricsNeedClasses, (fits_classes<M>(learnt_by<R>(model)) && ...),
    "Metrics: the model does not learn classes. Why: these metrics compare the class that is "
    "predicted for a row or a sequence with the true one. Fix: leave Metrics out, or take a model "
    "of classes, such as Mlp<{.classifier = true}> or Bert<{.labels = 2}>; of a model of tokens, "
    "Metrics<TokenAccuracy>; of several classes of each row, ExactClasses and F1; of numbers, "
    "Pearson.");
template <bool HasSetMetric>
SINTER_MODEL_RULE(
    MetricsNeedClassSets, !HasSetMetric || learnt_by<R>(model) == Learnt::class_sets,
    "Metrics: the model does not learn several classes of a row, and one of its metrics is of "
    "these. Why: ExactClasses and the average `samples` compare all classes of a row with those "
    "that "
    "are predicted. Fix: where each row has one class, Accuracy or another average; else "
    ".label_kind = LabelKind::several_classes of model and data, or a label_kind of your own "
    "model.");
template <bool HasNumberMetric>
SINTER_MODEL_RULE(
    MetricsNeedNumbers, !HasNumberMetric || learnt_by<R>(model) == Learnt::numbers,
    "Metrics: the model does not learn numbers, and one of its metrics is of numbers. Why: Pearson "
    "compares numbers that are predicted for a row or a sequence with the true ones. Fix: of a "
    "model of classes, Metrics<Accuracy>; else leave the metric out, or take a model of numbers, "
    "such as Mlp<> or Bert<{.labels = 1, .label_kind = LabelKind::numbers}>.");
template <bool HasTokenMetric>
SINTER_MODEL_RULE(
    MetricsNeedTokens,
    !HasTokenMetric || (losses_of(model).is_one_cross_entropy() && !class_targets(model)),
    "Metrics: the model does not learn tokens, and one of its metrics is of tokens. Why: such a "
    "metric counts beside the model's only loss, a cross-entropy of an id in each row. Fix: of a "
    "model of classes, Metrics<Accuracy>; else leave the metric out, or end the model in "
    "LinearCrossEntropy, LinearBiasCrossEntropy or CrossEntropy.");
}  // namespace detail

/// What an evaluation says beside the loss, such as Metrics<Accuracy, F1<>> of a model of classes, or
/// Metrics<TokenAccuracy> of one of tokens. A model of several classes of each row may have
/// Metrics<ExactClasses, F1<>>, one of numbers Metrics<Pearson>, and one that writes (Evaluate)
/// Metrics<Bleu, RougeL, HitsAt<>>. With all but metrics of tokens and texts, each batch is predicted as well
/// as evaluated, so an evaluation takes about twice the time. The figures are in the log as
/// val_accuracy and so on, in `eval`, and may choose the best checkpoint (LoopOptions::best_by). A
/// model of classes has Accuracy if its recipe has no Metrics. docs/add_a_metric.md has one of your
/// own.
template <class... M>
struct Metrics {
  using slot = slot::metric;
  using rules = RuleList<
      detail::MetricsAreMetrics<M...>, detail::MetricsRankAmongEnough<M...>,
      detail::MetricsHaveOwnNames<M...>,
      detail::MetricsNeedTexts<(
          (!detail::RowMetric<M> && !TokenMetric<M> && (TextMetric<M> || RankMetric<M>)) || ...)>>;
  using model_rules =
      RuleList<detail::MetricsNeedClasses<M...>,
               detail::MetricsNeedClassSets<((ClassSetMetric<M> && !ClassMetric<M>) || ...)>,
               detail::MetricsNeedNumbers<(NumberMetric<M> || ...)>,
               detail::MetricsNeedTokens<((TokenMetric<M> && !detail::RowMetric<M>) || ...)>>;
  static constexpr std::array<detail::Metric, sizeof...(M)> metrics{detail::metric_if_fit<M>()...};
};

}  // namespace sinter
