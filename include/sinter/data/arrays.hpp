// The user's own arrays of floats, for regression.
#pragma once
#include <cstdint>
#include <span>

#include "sinter/data/permutation.hpp"
#include "sinter/data/source.hpp"

namespace sinter {

struct ArrayOptions {
  int sequences;                  // rows per batch, at least 1
  Order order = Order::shuffled;  // sequential: as the rows lie
  std::uint64_t seed = 0;         // of the shuffle
  BatchShapes shapes = {};        // where rows of a batch change; at most `sequences`
};

/// Rows of inputs and of targets that belong together, as spans over the user's memory.
/// inputs: rows × in, targets: rows × out, row-major; widths and rows at least 1.
/// Copies nothing: the arrays must stay, unchanged, as long as they are used.
struct ArrayRows {
  /// ArgumentError, with both numbers, where a size is no multiple of its width or inputs and
  /// targets have different numbers of rows.
  ArrayRows(std::span<const float> inputs, int in, std::span<const float> targets, int out);

  std::span<const float> inputs, targets;
  int in, out;
  std::int64_t rows;

  /// Copies one row to the end of a batch, as a sequence of its own.
  void append(HostBatch& batch, std::int64_t row) const;
  /// Of the widths and of all values.
  std::uint64_t hash() const;
};

/// An endless data source over arrays: values[0] inputs, values[1] targets, each row its own
/// sequence. Each row comes once per epoch, in an order drawn from the seed and the epoch or in the
/// order in which it lies; a batch at an epoch's end is filled up from the next. The arrays stay
/// the user's (see ArrayRows).
class ArrayData {
 public:
  ArrayData(std::span<const float> inputs, int in, std::span<const float> targets, int out,
            ArrayOptions options);

  bool next(HostBatch& batch);  // always true
  SamplerState state() const { return now; }
  /// Takes over the saved seed as well.
  void restore(const SamplerState& saved);

 private:
  ArrayRows data;
  ArrayOptions options;
  SamplerState now;
  Permutation shuffle;
};

/// Every row once, in order; the last batch may be smaller. Finite. The arrays stay the user's.
class EvaluationArrays {
 public:
  /// Batches have up to `sequences` rows.
  EvaluationArrays(std::span<const float> inputs, int in, std::span<const float> targets, int out,
                   int sequences);

  bool next(HostBatch& batch);  // false, and an empty batch, after the last row
  SamplerState state() const { return now; }
  void restore(const SamplerState& saved);
  void restart() { now.position = now.items = 0; }

 private:
  ArrayRows data;
  int sequences;
  SamplerState now;
};

}  // namespace sinter
