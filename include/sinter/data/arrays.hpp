// SPDX-License-Identifier: Apache-2.0
// The user's own arrays, for regression and for classification.
#pragma once
#include <cstdint>
#include <span>

#include "sinter/data/permutation.hpp"
#include "sinter/data/source.hpp"

namespace sinter {

struct ArrayOptions {
  int sequences;                  ///< rows per batch, at least 1
  Order order = Order::shuffled;  ///< sequential is the order in which the rows lie
  std::uint64_t seed = 0;         ///< of the shuffle
  BatchShapes shapes = {};  ///< the rows of each batch, where that changes; at most `sequences`
};

/// Rows of inputs and of targets that belong together, as spans over the user's memory.
/// requires  the arrays stay, unchanged, as long as they are used, for nothing is copied
struct ArrayRows {
  /// throws    ArgumentError, with both numbers, where a size is no multiple of its width, or
  ///           inputs and targets have different numbers of rows; also for a width below 1 or an
  ///           empty array
  ArrayRows(std::span<const float> inputs, int in, std::span<const float> targets, int out);
  /// Rows with a class each, below zero where there is none, in place of targets.
  /// throws    ArgumentError, likewise
  ArrayRows(std::span<const float> inputs, int in, std::span<const std::int32_t> classes);

  std::span<const float> inputs, targets;   ///< rows × in and rows × out, row-major
  std::span<const std::int32_t> classes{};  ///< one for each row; empty where rows have targets
  int in, out;                              ///< numbers in a row; out is 0 where rows have classes
  std::int64_t rows;                        ///< at least 1

  /// Appends a row to a batch, as a sequence of its own.
  void append(HostBatch& batch, std::int64_t row) const;
  /// How many predictions these rows have: numbers of targets, or rows with a class.
  std::int64_t predictions(std::span<const std::int64_t> of_rows) const;
  /// A hash of the widths and of all values.
  std::uint64_t hash() const;
};

/// An endless data source over arrays: values[0] are inputs, values[1] targets or ids[0] classes,
/// and each row is a sequence of its own. Each row comes once per epoch, in an order drawn from the seed and the
/// epoch or in the order in which the rows lie; a batch at an epoch's end is filled up from the
/// next. The arrays remain the user's (see ArrayRows).
class ArrayData {
 public:
  /// throws    ArgumentError, as ArrayRows does, or if options.sequences is below 1
  ArrayData(std::span<const float> inputs, int in, std::span<const float> targets, int out,
            ArrayOptions options);
  /// Takes rows of either kind.
  /// throws    ArgumentError if options.sequences is below 1
  ArrayData(const ArrayRows& rows, ArrayOptions options);

  bool next(HostBatch& batch);  ///< always true
  /// See DataSource.
  SamplerState state() const { return now; }
  /// Takes over the saved seed as well.
  void restore(const SamplerState& saved);
  bool draw(BatchDraw& draw);  ///< always true; see DividedSource
  /// See DividedSource.
  void fill(const BatchDraw& draw, HostBatch& batch) const;

 private:
  ArrayRows data;
  ArrayOptions options;
  SamplerState now;
  Permutation shuffle;
  BatchDraw drawn;  // by next()
};

/// A finite data source that gives every row once, in order; the last batch may be smaller. The
/// arrays remain the user's (see ArrayRows).
class EvaluationArrays {
 public:
  /// Batches have up to `sequences` rows, which is at least 1.
  EvaluationArrays(std::span<const float> inputs, int in, std::span<const float> targets, int out,
                   int sequences);
  /// Takes rows of either kind.
  EvaluationArrays(const ArrayRows& rows, int sequences);

  bool next(HostBatch& batch);  ///< false, and an empty batch, after the last row
  /// See DataSource; so for restore().
  SamplerState state() const { return now; }
  void restore(const SamplerState& saved);
  bool draw(BatchDraw& draw);  ///< false after the last row; see DividedSource
  /// See DividedSource.
  void fill(const BatchDraw& draw, HostBatch& batch) const;
  /// Begins at the first row again.
  void restart() { now.position = now.items = 0; }

 private:
  ArrayRows data;
  int sequences;
  SamplerState now;
  BatchDraw drawn;  // by next()
};

}  // namespace sinter
