// SPDX-License-Identifier: Apache-2.0
// The slot `metric`: figures of an evaluation beside the loss. What they count are sums, so that they are
// exact over batches and ranks; the figure is formed once, at the end.
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

/// What a model predicts for rows of which each has a class, or for sequences of which each has one. Rows
/// without a class are left out.
struct ClassifiedRows {
  int classes;                           ///< number of classes
  std::span<const std::int32_t> actual;  ///< the class of each row
  std::span<const std::int32_t>
      predicted;  ///< of each row the class with the largest logit, the first of equals
  std::span<const float> logits;  ///< rows × classes, row-major
};

/// What a model predicts for rows of which each has any number of classes, also none
/// (LabelKind::several_classes).
struct ClassSetRows {
  int classes;                           ///< number of classes
  std::span<const std::uint8_t> actual;  ///< rows × classes: 1 for a class that the row has, or 0
  std::span<const std::uint8_t> predicted;  ///< the same by the logits: 1 for one above 0
  std::span<const float> logits;            ///< rows × classes, row-major
};

/// What a model predicts for rows of which each has numbers.
struct NumberRows {
  int columns;                       ///< numbers of a row
  std::span<const float> actual;     ///< rows × columns, row-major
  std::span<const float> predicted;  ///< the same, as the model gives them
};

namespace detail {
/// A metric that adds up what is predicted for Rows, each of which has `width` classes or numbers.
template <class M, class Rows>
concept MetricOf = std::is_empty_v<M> && requires(const Rows& rows, std::span<double> sums,
                                                  std::span<const double> all, int width) {
  { M::name } -> std::convertible_to<std::string_view>;
  { M::greater_is_better } -> std::convertible_to<bool>;
  { M::sums(width) } -> std::same_as<int>;
  M::add(rows, sums);
  { M::value(all, width) } -> std::same_as<double>;
};
}  // namespace detail

/// A metric of classes: an empty type with the members below.
///   name               what it is called in logs, files and flags: small letters, digits and '_'
///   greater_is_better  true if a larger figure is a better one
///   sums(classes)      the number of sums that it keeps, at least 1
///   add(rows, sums)    adds rows to the sums. A sum of two parts must be the sum of the whole: counts are,
///                      means are not
///   value(sums, classes)  the figure by the sums of all rows; NaN if there is none
template <class M>
concept ClassMetric = detail::MetricOf<M, ClassifiedRows>;

/// A metric of rows that have any number of classes: as a ClassMetric, with an add() that takes
/// ClassSetRows. A type may be both.
template <class M>
concept ClassSetMetric = detail::MetricOf<M, ClassSetRows>;

/// A metric of numbers: as a ClassMetric, with an add() that takes NumberRows, and the number of
/// columns in place of that of classes.
template <class M>
concept NumberMetric = detail::MetricOf<M, NumberRows>;

/// A metric of tokens, or of other ids that the loss predicts row by row: an empty type with the members
/// below. Sinter counts beside the loss, so no logits are kept.
///   name               as of a ClassMetric; so is greater_is_better
///   value(right, all)  the figure: of `all` targets, `right` have the largest logit of their row
template <class M>
concept TokenMetric = std::is_empty_v<M> && requires(std::int64_t count) {
  { M::name } -> std::convertible_to<std::string_view>;
  { M::greater_is_better } -> std::convertible_to<bool>;
  { M::value(count, count) } -> std::same_as<double>;
};

struct TextSums;  // metric/text_sums.hpp
struct WrittenReply;
struct RankedReply;

/// A metric of texts that a model has written (Evaluate): an empty type with the members below, and
/// sinter/metric/text_sums.hpp.
///   name              as of a ClassMetric; so is greater_is_better
///   sums              the number of sums that it keeps, at least 0; no function
///   add(reply, sums)  adds a reply to the TextSums. Those of two parts must add to those of the whole
///   value(sums)       the figure by the sums of all replies; NaN if there is none
template <class M>
concept TextMetric =
    std::is_empty_v<M> && requires(const WrittenReply& reply, TextSums& sums, const TextSums& all) {
      { M::name } -> std::convertible_to<std::string_view>;
      { M::greater_is_better } -> std::convertible_to<bool>;
      { M::sums } -> std::convertible_to<int>;
      M::add(reply, sums);
      { M::value(all) } -> std::same_as<double>;
    };

/// A metric of where the reply of an example ranks among those of others (Evaluate, HitsAt): an empty type
/// with name, greater_is_better, sums and value(sums) of a TextMetric, and
///   candidates        the number of replies that are compared: a constant, at least 2, and above a
///                     member `k` if there is one
///   add(reply, sums)  adds a RankedReply to the TextSums
template <class M>
concept RankMetric =
    std::is_empty_v<M> && requires(const RankedReply& reply, TextSums& sums, const TextSums& all) {
      { M::name } -> std::convertible_to<std::string_view>;
      { M::greater_is_better } -> std::convertible_to<bool>;
      { M::candidates } -> std::convertible_to<int>;
      { M::sums } -> std::convertible_to<int>;
      M::add(reply, sums);
      { M::value(all) } -> std::same_as<double>;
    };

/// The figure of an evaluation that a policy watches (Plateau).
struct Watched {
  std::string_view name;           ///< the metric's name; empty for the loss
  double value = 0;                ///< NaN if there is none
  bool greater_is_better = false;  ///< true if a larger figure is a better one
};

namespace detail {
/// A metric without its type.
struct Metric {
  enum class Of { rows, tokens, texts };
  std::string_view name{};
  bool greater_is_better = true;
  /// What it compares. Which functions are there says so, too, but with -fsanitize=undefined GNU
  /// leaves open whether a function's address is null, and rules need a constant.
  Of of = Of::rows;
  int (*sums)(int width) = nullptr;
  void (*add)(const ClassifiedRows& rows, std::span<double> sums) = nullptr;
  void (*add_sets)(const ClassSetRows& rows, std::span<double> sums) = nullptr;
  void (*add_numbers)(const NumberRows& rows, std::span<double> sums) = nullptr;
  double (*value)(std::span<const double> sums, int width) = nullptr;
  double (*of_tokens)(std::int64_t right, std::int64_t all) = nullptr;  ///< if set, only this is
  /// The number of sums of a metric of texts, which has what follows and the first two.
  int text_sums = 0;
  void (*add_text)(const WrittenReply& reply, TextSums& sums) = nullptr;
  double (*of_texts)(const TextSums& sums) = nullptr;
  /// In place of add_text, for a metric of ranks among so many candidates.
  void (*add_rank)(const RankedReply& reply, TextSums& sums) = nullptr;
  int candidates = 0;

  /// True if the metric compares predictions with targets, row by row.
  constexpr bool is_of_rows() const { return of == Of::rows; }
  /// True if the metric compares texts, written ones or candidates.
  constexpr bool is_of_texts() const { return of == Of::texts; }
};

/// A metric that adds up rows and forms its figure at the end.
template <class M>
concept RowMetric = ClassMetric<M> || ClassSetMetric<M> || NumberMetric<M>;

template <RowMetric M>
constexpr Metric metric_of() {
  Metric metric{.name = M::name, .greater_is_better = M::greater_is_better};
  metric.sums = M::sums;
  metric.value = M::value;
  if constexpr (ClassMetric<M>) metric.add = M::add;
  if constexpr (ClassSetMetric<M>) metric.add_sets = M::add;
  if constexpr (NumberMetric<M>) metric.add_numbers = M::add;
  return metric;
}
template <TokenMetric M>
  requires(!RowMetric<M>)
constexpr Metric metric_of() {
  return {.name = M::name,
          .greater_is_better = M::greater_is_better,
          .of = Metric::Of::tokens,
          .of_tokens = M::value};
}
template <TextMetric M>
  requires(!RowMetric<M> && !TokenMetric<M>)
constexpr Metric metric_of() {
  return {.name = M::name,
          .greater_is_better = M::greater_is_better,
          .of = Metric::Of::texts,
          .text_sums = M::sums,
          .add_text = M::add,
          .of_texts = M::value};
}
template <RankMetric M>
  requires(!RowMetric<M> && !TokenMetric<M> && !TextMetric<M>)
constexpr Metric metric_of() {
  return {.name = M::name,
          .greater_is_better = M::greater_is_better,
          .of = Metric::Of::texts,
          .text_sums = M::sums,
          .of_texts = M::value,
          .add_rank = M::add,
          .candidates = M::candidates};
}
}  // namespace detail

/// A figure of an evaluation.
struct MetricValue {
  std::string name;  ///< the metric's name
  double value = 0;  ///< NaN if there is none

  bool operator==(const MetricValue&) const = default;
};

}  // namespace sinter
