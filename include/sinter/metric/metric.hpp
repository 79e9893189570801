// SPDX-License-Identifier: Apache-2.0
// The slot `metric`: figures of an evaluation beside the loss. What they count are sums, so that
// they are exact over batches and ranks; the figure is formed once, at the end.
#pragma once
#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "sinter/policy/slots.hpp"

namespace sinter {

namespace slot {
/// The slot of metrics: what an evaluation says beside the loss (Metrics).
struct metric {
  static constexpr std::string_view name = "metric";
  static constexpr bool decisive = false;
};
}  // namespace slot

/// What a model predicts for rows of which each has a class, or for sequences of which each has
/// one. Rows without a class are left out.
struct ClassifiedRows {
  int classes;                           ///< number of classes
  std::span<const std::int32_t> actual;  ///< the class of each row
  std::span<const std::int32_t>
      predicted;  ///< of each row the class with the largest logit, the first of equals
  std::span<const float> logits;  ///< rows × classes, row-major
};

/// A metric of classes: an empty type with the members below.
///   name               what it is called in logs, files and flags: small letters, digits and '_'
///   greater_is_better  true if a larger figure is a better one
///   sums(classes)      the number of sums that it keeps, at least 1
///   add(rows, sums)    adds rows to the sums. A sum of two parts must be the sum of the whole:
///                      counts are, means are not
///   value(sums, classes)  the figure by the sums of all rows; NaN if there is none
template <class M>
concept ClassMetric =
    std::is_empty_v<M> && requires(const ClassifiedRows& rows, std::span<double> sums,
                                   std::span<const double> all, int classes) {
      { M::name } -> std::convertible_to<std::string_view>;
      { M::greater_is_better } -> std::convertible_to<bool>;
      { M::sums(classes) } -> std::same_as<int>;
      M::add(rows, sums);
      { M::value(all, classes) } -> std::same_as<double>;
    };

/// A metric of tokens, or of other ids that the loss predicts row by row: an empty type with the
/// members below. Sinter counts beside the loss, so no logits are kept.
///   name               as of a ClassMetric; so is greater_is_better
///   value(right, all)  the figure: of `all` targets, `right` have the largest logit of their row
template <class M>
concept TokenMetric = std::is_empty_v<M> && requires(std::int64_t count) {
  { M::name } -> std::convertible_to<std::string_view>;
  { M::greater_is_better } -> std::convertible_to<bool>;
  { M::value(count, count) } -> std::same_as<double>;
};

/// The figure of an evaluation that a policy watches (Plateau).
struct Watched {
  std::string_view name;           ///< the metric's name; empty for the loss
  double value = 0;                ///< NaN if there is none
  bool greater_is_better = false;  ///< true if a larger figure is a better one
};

namespace detail {
/// A ClassMetric or a TokenMetric without its type.
struct Metric {
  std::string_view name{};
  bool greater_is_better = true;
  int (*sums)(int classes) = nullptr;
  void (*add)(const ClassifiedRows& rows, std::span<double> sums) = nullptr;
  double (*value)(std::span<const double> sums, int classes) = nullptr;
  double (*of_tokens)(std::int64_t right, std::int64_t all) = nullptr;  ///< if set, only this is
};

template <ClassMetric M>
constexpr Metric metric_of() {
  return {M::name, M::greater_is_better, M::sums, M::add, M::value};
}
template <TokenMetric M>
  requires(!ClassMetric<M>)
constexpr Metric metric_of() {
  return {.name = M::name, .greater_is_better = M::greater_is_better, .of_tokens = M::value};
}
}  // namespace detail

/// A figure of an evaluation.
struct MetricValue {
  std::string name;  ///< the metric's name
  double value = 0;  ///< NaN if there is none

  bool operator==(const MetricValue&) const = default;
};

}  // namespace sinter
