// SPDX-License-Identifier: Apache-2.0
// Rules for the model of a recipe whose data have a label for each sequence.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>

#include "sinter/base/label_kind.hpp"
#include "sinter/policy/policy_facts.hpp"
#include "sinter/policy/rules.hpp"
#include "sinter/program/id_limit.hpp"

namespace sinter::detail {

/// Why a recipe's model cannot learn the labels of its data's sequences.
enum class ClassFault : std::uint8_t {
  none,
  no_classes,    // it does not take tokens and a label for each sequence
  other_labels,  // its labels are of another kind, or have another count of numbers
  other_tokens,  // it takes types of tokens, and the data give none; or the other way round
  few_types,     // there are fewer types than texts of a sequence
  few_classes,   // there are fewer classes than the data have
  objective,     // a policy has an objective that predicts something else
  padding        // a policy pads sequences
};

/// True if a model's inputs are tokens, or tokens and their types, followed by a label for each
/// sequence.
constexpr bool takes_sequences_and_labels(std::span<const External> inputs) {
  if (inputs.size() != 2 && inputs.size() != 3) return false;
  const External& last = inputs.back();
  return std::ranges::all_of(
             inputs.first(inputs.size() - 1),
             [](const External& e) { return e.axis == 0 && e.width == 0 && !e.targets; }) &&
         last.targets && last.axis == pooled(0);
}

/// True if the model says that its labels are of another kind than the data's.
template <class R>
constexpr bool says_another_kind() {
  if constexpr (requires { LabelKind(R::model::options.label_kind); })
    return R::model::options.label_kind != R::data::label_kind;
  return false;
}

/// Returns the first reason, or none: so at most one of the rules below fails. The recipe's data
/// policy has the members `classes`, `label_kind`, `types` and `pairs`.
template <class R>
constexpr ClassFault class_fault(const Model& model) {
  using enum ClassFault;
  const auto inputs = model.externals;
  if (!takes_sequences_and_labels(inputs)) return no_classes;
  const bool one_class = R::data::label_kind == LabelKind::one_class;
  if (inputs.back().width != (one_class ? 0 : R::data::classes) || says_another_kind<R>())
    return other_labels;
  if ((inputs.size() == 3) != R::data::types) return other_tokens;
  if (R::data::types && id_limit(model, 1) < (R::data::pairs ? 2 : 1)) return few_types;
  if (one_class && id_limit(model, int(inputs.size()) - 1) < R::data::classes) return few_classes;
  if (has_objective<R>()) return objective;
  return pads_sequences<R>() ? padding : none;
}

SINTER_MODEL_RULE(
    SequencesHaveClasses, class_fault<R>(model) != ClassFault::no_classes,
    "LabelledText: the model does not learn a class of each sequence. Why: a batch is tokens, with "
    ".types their types, and then one class for each sequence. Fix: a model such as Bert<{.labels "
    "= 2}>, or one whose trace takes g.tokens(), and then g.targets(pooled(0)).");
SINTER_MODEL_RULE(
    LabelsAreOfOneKind, class_fault<R>(model) != ClassFault::other_labels,
    "LabelledText: model and data do not agree on what a label is. Why: a label is a class, "
    "several classes or numbers, and a loss is of one of these; numbers and several classes are "
    "as many as the model gives. Fix: the same .label_kind in both, and .labels of the model that "
    "are .classes of the data.");
SINTER_MODEL_RULE(
    TypesAreTaken, class_fault<R>(model) != ClassFault::other_tokens,
    "LabelledText: data and model do not agree on types of tokens. Why: with .types the data give "
    "the type of each token behind the tokens, and the model must take them there. Fix: .types = "
    "true of the data and .pairs = true of Bert, or neither; DistilBert takes no types.");
SINTER_MODEL_RULE(TypesSuffice, class_fault<R>(model) != ClassFault::few_types,
                  "LabelledText: the model has fewer types of tokens than a pair. Why: tokens of "
                  "the second text are of type 1, and the model has only 0. Fix: .types = 2 in the "
                  "model, or neither .pairs of it nor .types of the data.");
SINTER_MODEL_RULE(
    ClassesSuffice, class_fault<R>(model) != ClassFault::few_classes,
    "LabelledText: the model has fewer classes than the data. Why: a label may be one that the "
    "model has no logit for. Fix: .labels of the model that are .classes of the data.");
SINTER_MODEL_RULE(ClassesArePredicted, class_fault<R>(model) != ClassFault::objective,
                  "LabelledText: an objective with labels. Why: an objective such as MaskedLm says "
                  "which tokens are predicted, and these data have a class of each sequence "
                  "predicted instead. Fix: leave the objective out.");
SINTER_MODEL_RULE(ClassesSeeNoPadding, class_fault<R>(model) != ClassFault::padding,
                  "LabelledText: the batching pads sequences. Why: a class is told from the rows "
                  "of its sequence, and rows of padding would be among them. Fix: leave the "
                  "batching out, which is Packed.");

}  // namespace sinter::detail
