// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/metric/class_average.hpp"

namespace sinter {

struct RecallOptions {
  ClassAverage average = ClassAverage::macro;  ///< how classes are averaged
};

namespace detail {
struct RecallFigure {
  static constexpr double figure(double right, double, double actual) { return right / actual; }
};
}  // namespace detail

/// The share of what is true that is predicted, of each class: right / actual; 0 for a class that
/// is never true (scikit-learn's recall_score with zero_division = 0). Its name is recall_macro,
/// recall_micro, recall_weighted or recall_samples.
template <RecallOptions O = {}>
struct Recall : detail::AveragedMetric<detail::RecallFigure, O.average> {
  static constexpr std::string_view name = detail::name_by(
      O.average, "recall_macro", "recall_micro", "recall_weighted", "recall_samples");
};

}  // namespace sinter
