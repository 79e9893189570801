// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string_view>

namespace sinter {

/// What a label says, of data and of the model that learns them: `problem_type` of transformers.
enum class LabelKind : std::uint8_t {
  one_class,        ///< each sequence has one class (single_label_classification)
  several_classes,  ///< each sequence has any number of classes (multi_label_classification)
  numbers,          ///< each sequence has numbers (regression)
  class_of_token    ///< each token has a class, or none (the classes ForTokenClassification)
};
/// The name of a choice, as options print it.
constexpr std::string_view name_of(LabelKind kind) {
  switch (kind) {
    case LabelKind::one_class:
      return "one_class";
    case LabelKind::several_classes:
      return "several_classes";
    case LabelKind::numbers:
      return "numbers";
    case LabelKind::class_of_token:
      return "class_of_token";
  }
  return "";
}

}  // namespace sinter
