// SPDX-License-Identifier: Apache-2.0
// Which input of a model is the class of each row, or of each sequence.
#pragma once
#include "sinter/program/id_limit.hpp"

namespace sinter::detail {

/// The input of a model's classes; none if it learns something else.
struct ClassTargets {
  int ids = -1;     ///< its index in HostBatch::ids, or -1
  int classes = 0;  ///< number of classes

  constexpr explicit operator bool() const { return ids >= 0; }
};

/// The classes that a model learns: its only targets are ids, one for each sequence, or one for
/// each row where all else that it takes are numbers. (A model that takes ids and has a target for
/// each row learns tokens.)
constexpr ClassTargets class_targets(const Model& model) {
  ClassTargets found;
  int ids = 0, targets = 0;
  bool only_numbers = true, each_sequence = false;
  for (int k = 0; k < int(model.externals.size()); ++k) {
    const External& input = model.externals[std::size_t(k)];
    targets += input.targets;
    if (input.targets && input.width == 0) {
      found = {ids, id_limit(model, k)};
      each_sequence = input.axis >= token_axes;
    } else {
      only_numbers &= input.width > 0;
    }
    ids += input.width == 0;
  }
  return targets == 1 && (only_numbers || each_sequence) ? found : ClassTargets{};
}

}  // namespace sinter::detail
