// SPDX-License-Identifier: Apache-2.0
// Which input of a model is the numbers, or the set of classes, of each row or sequence.
#pragma once
#include "sinter/base/label_kind.hpp"
#include "sinter/metric/class_targets.hpp"

namespace sinter::detail {

/// The input of a model's target numbers; none if it learns something else.
struct ValueTargets {
  int values = -1;  ///< its index in HostBatch::values, or -1
  int width = 0;    ///< numbers of a row

  constexpr explicit operator bool() const { return values >= 0; }
};

/// The numbers that a model learns: its only targets are numbers, for each sequence, or for each row
/// where all that it takes are numbers.
constexpr ValueTargets value_targets(const Model& model) {
  ValueTargets found;
  int values = 0, targets = 0;
  bool only_numbers = true, each_sequence = false;
  for (const External& input : model.externals) {
    targets += input.targets;
    if (input.targets && input.width > 0) {
      found = {values, input.width};
      each_sequence = input.axis >= token_axes;
    }
    only_numbers &= input.width > 0;
    values += input.width > 0;
  }
  return targets == 1 && (only_numbers || each_sequence) ? found : ValueTargets{};
}

/// What a model learns, as far as metrics tell.
enum class Learnt : std::uint8_t { other, classes, class_sets, numbers };

/// What the numbers of a recipe's targets are, as its model says, or else its data.
template <class R>
constexpr LabelKind kind_of_values() {
  if constexpr (requires { LabelKind(R::model::label_kind); }) {
    return R::model::label_kind;
  } else if constexpr (requires { LabelKind(R::model::options.label_kind); }) {
    return R::model::options.label_kind;
  } else if constexpr (requires { LabelKind(R::data::label_kind); }) {
    return R::data::label_kind;
  } else {
    return LabelKind::numbers;
  }
}

/// What the model of a recipe learns.
template <class R>
constexpr Learnt learnt_by(const Model& model) {
  if (class_targets(model)) return Learnt::classes;
  if (!value_targets(model)) return Learnt::other;
  return kind_of_values<R>() == LabelKind::several_classes ? Learnt::class_sets : Learnt::numbers;
}

}  // namespace sinter::detail
