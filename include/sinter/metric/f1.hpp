// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/metric/class_average.hpp"

namespace sinter {

/// The former name of ClassAverage.
using F1Average = ClassAverage;

struct F1Options {
  ClassAverage average = ClassAverage::macro;  ///< how classes are averaged
};

namespace detail {
struct F1Figure {
  static constexpr double figure(double right, double predicted, double actual) {
    return 2 * right / (predicted + actual);
  }
};
}  // namespace detail

/// F1 = 2 right / (predicted + actual), the harmonic mean of precision and recall; 0 for a class
/// without a right row (scikit-learn's f1_score with zero_division = 0). Its name is f1_macro,
/// f1_micro, f1_weighted or f1_samples.
template <F1Options O = {}>
struct F1 : detail::AveragedMetric<detail::F1Figure, O.average> {
  static constexpr std::string_view name =
      detail::name_by(O.average, "f1_macro", "f1_micro", "f1_weighted", "f1_samples");
};

}  // namespace sinter
