// SPDX-License-Identifier: Apache-2.0
// Figures of each class, such as its F1, as one: what F1, Precision and Recall share.
#pragma once
#include "sinter/metric/class_counts.hpp"

namespace sinter {

/// How a figure of each class becomes one figure, as in scikit-learn.
enum class ClassAverage : std::uint8_t {
  macro,  ///< the mean over the classes that occur; of several classes of a row, over all classes
  micro,  ///< of all rows counted together; the accuracy where each row has one class
  weighted,  ///< the mean over classes, weighted by how often each is true
  samples    ///< the mean of the figures of rows, of which each has several classes
};

namespace detail {

/// Sums of classes, and of rows that have any number of them.
template <class Sum>
struct AveragedSums {
  ClassCounts<Sum> of;
  Sum &figures, &rows;  ///< of rows that have any number of classes: their figures, and how many

  constexpr AveragedSums(std::span<Sum> sums, int classes)
      : of(sums, classes), figures(sums[sums.size() - 2]), rows(sums.back()) {}
};
constexpr int averaged_sums(int classes) { return class_count_sums(classes) + 2; }

/// The figure of counts; 0 where it would divide by nothing.
///   F::figure(right, predicted, actual)  a share of counts, NaN if it has none
template <class F>
constexpr double figure_of(double right, double predicted, double actual) {
  const double figure = F::figure(right, predicted, actual);
  return figure == figure ? figure : 0;
}

template <class F>
constexpr void add_averaged(const ClassSetRows& rows, std::span<double> all) {
  const AveragedSums<double> sums(all, rows.classes);
  const auto classes = std::size_t(rows.classes);
  for (std::size_t at = 0; at < rows.actual.size(); at += classes) {
    double right = 0, predicted = 0, actual = 0;
    for (std::size_t k = 0; k < classes; ++k) {
      const bool has = rows.actual[at + k] != 0, says = rows.predicted[at + k] != 0;
      right += has && says;
      predicted += says;
      actual += has;
      sums.of.right[k] += has && says;
      sums.of.predicted[k] += says;
      sums.of.actual[k] += has;
    }
    sums.figures += figure_of<F>(right, predicted, actual);
    ++sums.rows;
  }
}

/// The average of the classes' figures; NaN without rows.
template <class F>
constexpr double averaged(ClassAverage average, std::span<const double> all, int classes) {
  const AveragedSums<const double> sums(all, classes);
  if (average == ClassAverage::samples) return sums.figures / sums.rows;
  double figures = 0, weights = 0, right = 0, predicted = 0, actual = 0, counted = 0;
  for (std::size_t k = 0; k < std::size_t(classes); ++k) {
    const double either = sums.of.predicted[k] + sums.of.actual[k];
    right += sums.of.right[k];
    predicted += sums.of.predicted[k];
    actual += sums.of.actual[k];
    if (either == 0 && sums.rows == 0) continue;
    ++counted;
    const double weight = average == ClassAverage::weighted ? sums.of.actual[k] : 1;
    figures += weight * figure_of<F>(sums.of.right[k], sums.of.predicted[k], sums.of.actual[k]);
    weights += weight;
  }
  if (average == ClassAverage::micro)
    return counted > 0 ? figure_of<F>(right, predicted, actual) : right / counted;
  return weights == 0 && counted > 0 ? 0 : figures / weights;
}

/// What F1, Precision and Recall have in common.
template <class F, ClassAverage Average>
struct AveragedMetric {
  static constexpr bool greater_is_better = true;
  static constexpr int sums(int classes) { return averaged_sums(classes); }
  static constexpr void add(const ClassifiedRows& rows, std::span<double> sums)
    requires(Average != ClassAverage::samples)
  {
    count_classes(rows, sums);
  }
  static constexpr void add(const ClassSetRows& rows, std::span<double> sums) {
    add_averaged<F>(rows, sums);
  }
  static constexpr double value(std::span<const double> sums, int classes) {
    return averaged<F>(Average, sums, classes);
  }
};

/// One of four names.
constexpr std::string_view name_by(ClassAverage average, std::string_view macro,
                                   std::string_view micro, std::string_view weighted,
                                   std::string_view samples) {
  switch (average) {
    case ClassAverage::macro:
      return macro;
    case ClassAverage::micro:
      return micro;
    case ClassAverage::weighted:
      return weighted;
    case ClassAverage::samples:
      return samples;
  }
  return "";
}

}  // namespace detail
}  // namespace sinter
