// SPDX-License-Identifier: Apache-2.0
// Rules for the model of a recipe whose data have a class for each sequence.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>

#include "sinter/policy/policy_facts.hpp"
#include "sinter/policy/rules.hpp"
#include "sinter/program/id_limit.hpp"

namespace sinter {

/// Why a recipe's model cannot learn the classes of its data's sequences.
enum class ClassMisfit : std::uint8_t {
  none,
  no_classes,    // it does not take tokens and a class for each sequence
  other_tokens,  // it takes types of tokens, and the data give none; or the other way round
  few_types,     // there are fewer types than texts of a sequence
  few_classes,   // there are fewer classes than the data have
  objective,     // a policy has an objective that predicts something else
  padding        // a policy pads sequences
};

namespace detail {

/// True if a model's inputs are tokens, or tokens and their types, followed by a class for each
/// sequence.
constexpr bool takes_sequences_and_classes(std::span<const External> inputs) {
  if (inputs.size() != 2 && inputs.size() != 3) return false;
  const External& last = inputs.back();
  return std::ranges::all_of(
             inputs.first(inputs.size() - 1),
             [](const External& e) { return e.axis == 0 && e.width == 0 && !e.targets; }) &&
         last.targets && last.width == 0 && last.axis == pooled(0);
}

/// Returns the first reason, or none. The recipe's data policy has the members `classes`, `types`
/// and `pairs`.
template <class R>
constexpr ClassMisfit class_misfit(const Model& model) {
  using enum ClassMisfit;
  const auto inputs = model.externals;
  if (!takes_sequences_and_classes(inputs)) return no_classes;
  if ((inputs.size() == 3) != R::data::types) return other_tokens;
  if (R::data::types && id_limit(model, 1) < (R::data::pairs ? 2 : 1)) return few_types;
  if (id_limit(model, int(inputs.size()) - 1) < R::data::classes) return few_classes;
  if (has_objective<R>()) return objective;
  return pads_sequences<R>() ? padding : none;
}

/// A rule of the model: `Reason` is not the first reason. At most one such rule fails.
template <ClassMisfit Reason>
struct NoMisfit {
  template <class R>
  static constexpr bool holds(const Model& model) {
    return class_misfit<R>(model) != Reason;
  }
};

}  // namespace detail

/// A rule of the model: it learns a class of each sequence of tokens.
struct SequencesHaveClasses : detail::NoMisfit<ClassMisfit::no_classes> {
  template <class R>
  static auto enforce() {
    static_assert(
        sizeof(R) == 0,
        "LabelledText: the model does not learn a class of each sequence. Why: a batch is "
        "tokens, with .types their types, and then one class for each sequence. Fix: a "
        "model such as Bert<{.labels = 2}>, or one whose trace takes g.tokens(), and then "
        "g.targets(pooled(0)).");
  }
};
/// A rule of the model: it takes types of tokens if, and only if, the data give them.
struct TypesAreTaken : detail::NoMisfit<ClassMisfit::other_tokens> {
  template <class R>
  static auto enforce() {
    static_assert(sizeof(R) == 0,
                  "LabelledText: data and model do not agree on types of tokens. Why: with .types "
                  "the data give the type of each token behind the tokens, and the model must take "
                  "them there. Fix: .types = true of the data and .pairs = true of Bert, or "
                  "neither; DistilBert takes no types.");
  }
};
/// A rule of the model: there is a type for each text of a sequence.
struct TypesSuffice : detail::NoMisfit<ClassMisfit::few_types> {
  template <class R>
  static auto enforce() {
    static_assert(sizeof(R) == 0,
                  "LabelledText: the model has fewer types of tokens than a pair. Why: tokens of "
                  "the second text are of type 1, and the model has only 0. Fix: .types = 2 in the "
                  "model, or neither .pairs of it nor .types of the data.");
  }
};
/// A rule of the model: it has all classes of the data.
struct ClassesSuffice : detail::NoMisfit<ClassMisfit::few_classes> {
  template <class R>
  static auto enforce() {
    static_assert(sizeof(R) == 0,
                  "LabelledText: the model has fewer classes than the data. Why: a label may be "
                  "one that the model has no logit for. Fix: .labels of the model that are "
                  ".classes of the data.");
  }
};
/// A rule of the model: only classes are predicted.
struct ClassesArePredicted : detail::NoMisfit<ClassMisfit::objective> {
  template <class R>
  static auto enforce() {
    static_assert(sizeof(R) == 0,
                  "LabelledText: an objective with labels. Why: an objective such as MaskedLm says "
                  "which tokens are predicted, and these data have a class of each sequence "
                  "predicted instead. Fix: leave the objective out.");
  }
};
/// A rule of the model: no sequence has rows of padding.
struct ClassesSeeNoPadding : detail::NoMisfit<ClassMisfit::padding> {
  template <class R>
  static auto enforce() {
    static_assert(sizeof(R) == 0,
                  "LabelledText: the batching pads sequences. Why: a class is told from the rows "
                  "of its sequence, and rows of padding would be among them. Fix: leave the "
                  "batching out, which is Packed.");
  }
};

}  // namespace sinter
