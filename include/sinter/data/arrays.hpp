// SPDX-License-Identifier: Apache-2.0
// Your own arrays, for regression and for classification.
#pragma once
#include <cstdint>
#include <span>  // with the concepts of ranges; <ranges> itself adds 4,000 lines to each recipe

#include "sinter/data/permutation.hpp"
#include "sinter/data/source.hpp"

namespace sinter {

struct ArrayOptions {
  int sequences;                    ///< rows per batch, at least 1
  Order order = Order::shuffled;    ///< sequential is the order of the rows in the arrays
  std::uint64_t seed = 0;           ///< seed of the shuffle
  detail::BatchShapes shapes = {};  ///< rows of each batch, if that changes; at most `sequences`
};

namespace detail {
/// An array that is gone after the full expression, unlike a span of one that stays.
template <class T>
concept Temporary = std::ranges::contiguous_range<T> && !std::ranges::borrowed_range<T>;

/// Matching rows of inputs and of targets, as spans over the user's memory.
/// requires  the arrays outlive their use unchanged, because nothing is copied
struct ArrayRows {
  /// throws    ArgumentError, with both numbers, if a size is no multiple of its width, or inputs
  ///           and targets have different numbers of rows; also for a width below 1 or an empty
  ///           array
  ArrayRows(std::span<const float> inputs, int in, std::span<const float> targets, int out);
  /// Takes rows with a class each, negative if there is none, in place of targets.
  /// throws    ArgumentError, as for targets
  ArrayRows(std::span<const float> inputs, int in, std::span<const std::int32_t> classes);
  /// Temporary arrays would be gone before they are read.
  template <class Inputs, class Targets>
    requires Temporary<Inputs> || Temporary<Targets>
  ArrayRows(Inputs&&, int, Targets&&, int) = delete;
  template <class Inputs, class Classes>
    requires Temporary<Inputs> || Temporary<Classes>
  ArrayRows(Inputs&&, int, Classes&&) = delete;

  std::span<const float> inputs, targets;   ///< rows × in and rows × out, row-major
  std::span<const std::int32_t> classes{};  ///< one per row; empty if rows have targets
  int in, out;                              ///< numbers in a row; out is 0 if rows have classes
  std::int64_t rows;                        ///< at least 1

  /// Appends a row to a batch, as a sequence of its own.
  void append(HostBatch& batch, std::int64_t row) const;
  /// Number of predictions of these rows: numbers of targets, or rows with a class.
  std::int64_t predictions(std::span<const std::int64_t> of_rows) const;
  /// A hash of the widths and of all values.
  std::uint64_t hash() const;
};
}  // namespace detail

/// An endless data source over arrays: values[0] are inputs, values[1] targets or ids[0] classes.
/// Each row is a sequence of its own and comes once per epoch, either in array order or in an order
/// drawn from the seed and the epoch. A batch at an epoch's end is filled up from the next. The
/// arrays remain the user's (ArrayRows).
class ArrayData {
 public:
  static constexpr bool never_ends = true;  ///< see detail::NeverEnds
  /// throws    ArgumentError, as ArrayRows does, or if options.sequences is below 1
  ArrayData(std::span<const float> inputs, int in, std::span<const float> targets, int out,
            ArrayOptions options);
  /// Temporary arrays would be gone before the first batch.
  template <class Inputs, class Targets>
    requires detail::Temporary<Inputs> || detail::Temporary<Targets>
  ArrayData(Inputs&&, int, Targets&&, int, ArrayOptions) = delete;
  /// Takes rows with targets or with classes.
  /// throws    ArgumentError if options.sequences is below 1
  ArrayData(const detail::ArrayRows& rows, ArrayOptions options);

  bool next(HostBatch& batch);  ///< true, or false at the end that end_at() has set
  /// The state after the last batch (DataSource).
  SamplerState state() const { return now; }
  /// Also restores the saved seed.
  void restore(const SamplerState& saved);
  /// Sets where the source ends (EndingSource).
  std::string end_at(SourceEnd end);
  bool draw(BatchDraw& draw);  ///< next() without the content; see DividedSource
  /// Makes a drawn batch (DividedSource).
  void fill(const BatchDraw& draw, HostBatch& batch) const;

 private:
  detail::ArrayRows data;
  ArrayOptions options;
  SamplerState now;
  detail::Permutation shuffle;
  BatchDraw drawn;  // used by next()
};

/// A finite data source that gives every row once, in order; the last batch may be smaller. The
/// arrays remain the user's (ArrayRows).
class EvaluationArrays {
 public:
  /// Batches have up to `sequences` rows, at least 1.
  EvaluationArrays(std::span<const float> inputs, int in, std::span<const float> targets, int out,
                   int sequences);
  /// Temporary arrays would be gone before the first batch.
  template <class Inputs, class Targets>
    requires detail::Temporary<Inputs> || detail::Temporary<Targets>
  EvaluationArrays(Inputs&&, int, Targets&&, int, int) = delete;
  /// Takes rows with targets or with classes.
  EvaluationArrays(const detail::ArrayRows& rows, int sequences);

  bool next(HostBatch& batch);  ///< false, and an empty batch, after the last row
  /// The state after the last batch (DataSource); restore() continues from one.
  SamplerState state() const { return now; }
  void restore(const SamplerState& saved);  ///< Goes on from a state that state() gave.
  bool draw(BatchDraw& draw);               ///< false after the last row; see DividedSource
  /// Makes a drawn batch (DividedSource).
  void fill(const BatchDraw& draw, HostBatch& batch) const;
  /// Starts again at the first row.
  void restart() { now.position = now.items = 0; }

 private:
  detail::ArrayRows data;
  int sequences;
  SamplerState now;
  BatchDraw drawn;  // used by next()
};

}  // namespace sinter
