// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/metric/class_average.hpp"

namespace sinter {

struct PrecisionOptions {
  ClassAverage average = ClassAverage::macro;  ///< how classes are averaged
};

namespace detail {
struct PrecisionFigure {
  static constexpr double figure(double right, double predicted, double) {
    return right / predicted;
  }
};
}  // namespace detail

/// The share of what is predicted that is right, of each class: right / predicted; 0 for a class
/// that is never predicted (scikit-learn's precision_score with zero_division = 0). Its name is
/// precision_macro, precision_micro, precision_weighted or precision_samples.
template <PrecisionOptions O = {}>
struct Precision : detail::AveragedMetric<detail::PrecisionFigure, O.average> {
  static constexpr std::string_view name = detail::name_by(
      O.average, "precision_macro", "precision_micro", "precision_weighted", "precision_samples");
};

}  // namespace sinter
