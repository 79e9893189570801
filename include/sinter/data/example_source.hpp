// SPDX-License-Identifier: Apache-2.0
// Batches of examples, for training and for evaluation.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "sinter/data/batching.hpp"
#include "sinter/data/example_list.hpp"
#include "sinter/data/permutation.hpp"
#include "sinter/data/source.hpp"

namespace sinter {

/// Neighbours in an ExampleList.
struct ExampleRange {
  std::int64_t first;  ///< the number of the first example
  std::int64_t count;  ///< how many there are, at least 1
};

/// How training takes examples.
struct ExampleBatchOptions {
  int sequences;                  ///< examples of a batch at most, at least 1
  int least = 1;                  ///< examples of a batch at least: one for each rank
  Order order = Order::shuffled;  ///< sequential is the order in which the examples lie
  std::uint64_t seed = 0;         ///< of the shuffle
  BatchShapes shapes{};           ///< of each batch, where that changes; at most `sequences`
  Batching batching{};            ///< which examples stand together, and whether they are padded
};

/// An endless data source of examples. Each comes exactly once in an epoch, in an order that is
/// drawn from the seed and the epoch alone, and is a sequence of its own, so that attention and
/// positions begin anew with it. A batch is what the batching arranges; one that would have fewer
/// than `least` examples is filled up with those that follow, at an epoch's end from the next.
class ExampleBatches {
 public:
  /// requires  the examples stay as long as the source is used
  /// throws    ArgumentError if there are no examples, if fewer than 1 sequence or more than
  ///           `sequences` are to be in a batch at least, if a batch may have 2³¹ rows, or if the
  ///           batching shuffles and the order is sequential
  ExampleBatches(const ExampleList& set, ExampleRange range, ExampleBatchOptions options);

  bool next(HostBatch& batch);  ///< always true
  /// See DataSource.
  SamplerState state() const { return now; }
  /// Takes over the saved seed as well.
  void restore(const SamplerState& saved);
  bool draw(BatchDraw& draw);  ///< always true; see DividedSource
  /// See DividedSource.
  void fill(const BatchDraw& draw, HostBatch& batch) const;

  /// The share of the rows of this epoch's batches that are padding, if batches are whole.
  double padding() const;

 private:
  const ExampleList* set;
  ExampleRange range;
  ExampleBatchOptions options;
  std::vector<ExampleLength> lengths;  // if the batching arranges
  SamplerState now;
  Permutation shuffle{1, 0};
  Arrangement arrangement;
  BatchDraw drawn;  // by next()

  void draw_epoch();
  std::int64_t example_at(std::uint64_t position) const;
  std::uint64_t batch_end(std::uint64_t position, std::uint64_t sequences) const;
  int padded_length(std::span<const std::int64_t> part, int most) const;
  void each_part(std::span<const std::int64_t> numbers, auto&& take) const;
};

/// A finite data source that gives every example once, in order and without padding; the last batch
/// may be smaller.
class EvaluationExamples {
 public:
  /// Batches have up to `sequences` examples, which is at least 1.
  /// requires  the examples stay as long as the source is used
  /// throws    ArgumentError, as ExampleBatches does
  EvaluationExamples(const ExampleList& set, ExampleRange range, int sequences);

  bool next(HostBatch& batch);  ///< false, and an empty batch, after the last example
  bool draw(BatchDraw& draw);   ///< false after the last example; see DividedSource
  /// See DividedSource.
  void fill(const BatchDraw& draw, HostBatch& batch) const;
  /// See DataSource.
  SamplerState state() const { return now; }
  /// See DataSource; a fresh state() is where it begins again.
  void restore(const SamplerState& saved);

 private:
  const ExampleList* set;
  ExampleRange range;
  int sequences;
  SamplerState now;
  BatchDraw drawn;  // by next()
};

}  // namespace sinter
