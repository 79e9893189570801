// SPDX-License-Identifier: Apache-2.0
// Batches of examples, for training and for evaluation.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sinter/data/batching.hpp"
#include "sinter/data/example_list.hpp"
#include "sinter/data/permutation.hpp"
#include "sinter/data/source.hpp"

namespace sinter {

namespace detail {
/// Consecutive examples of an ExampleList.
struct ExampleRange {
  std::int64_t first;  ///< number of the first example
  std::int64_t count;  ///< number of examples, at least 1
};
/// The rows that each sequence is padded to, by axis; 0 if it is not padded.
struct PaddedTo {
  int rows = 0, second_rows = 0;
};
}  // namespace detail

/// How training takes examples.
struct ExampleBatchOptions {
  int sequences;                  ///< maximum examples of a batch, at least 1
  int least = 1;                  ///< minimum examples of a batch: one for each rank
  Order order = Order::shuffled;  ///< sequential is the order of the list
  std::uint64_t seed = 0;         ///< seed of the shuffle
  detail::BatchShapes shapes{};   ///< shape of each batch, if it changes; at most `sequences`
  Batching batching{};  ///< how examples are grouped in batches, and whether they are padded
};

/// An endless data source of examples. Each comes exactly once in an epoch, in an order drawn from
/// only the seed and the epoch. It is a sequence of its own: attention and positions begin anew
/// with it. The batching arranges the batches; one of fewer than `least` examples is filled up with
/// those that follow, at an epoch's end from the next.
class ExampleBatches {
 public:
  static constexpr bool never_ends = true;  ///< see detail::NeverEnds
  /// requires  the examples outlive the source
  /// throws    ArgumentError if there are no examples, if `least` is below 1 or above `sequences`,
  ///           if a batch may have 2³¹ rows, or if the batching shuffles and the order is
  ///           sequential
  ExampleBatches(const ExampleList& set, detail::ExampleRange range, ExampleBatchOptions options);

  bool next(HostBatch& batch);  ///< true, or false at the end that end_at() has set
  /// The state after the last batch (DataSource).
  SamplerState state() const { return now; }
  /// Also restores the saved seed.
  void restore(const SamplerState& saved);
  /// Sets where the source ends (EndingSource). The last batch may have fewer than `least`
  /// examples.
  std::string end_at(SourceEnd end);
  bool draw(BatchDraw& draw);  ///< next() without the content; see DividedSource
  /// Makes a drawn batch (DividedSource).
  void fill(const BatchDraw& draw, HostBatch& batch) const;

  /// The share of padding in the rows of this epoch's batches, if batches are whole.
  double padding() const;

 private:
  const ExampleList* set;
  detail::ExampleRange range;
  ExampleBatchOptions options;
  std::vector<ExampleLength> lengths;  // empty unless the batching arranges
  SamplerState now;
  detail::Permutation shuffle{1, 0};
  detail::Arrangement arrangement;
  BatchDraw drawn;  // used by next()

  void draw_epoch();
  std::int64_t example_at(std::uint64_t position) const;
  std::uint64_t batch_end(std::uint64_t position, std::uint64_t sequences) const;
  detail::PaddedTo padded_to(std::span<const std::int64_t> part, int most) const;
  void each_part(std::span<const std::int64_t> numbers, auto&& take) const;
};

/// A finite data source that gives every example once, in order and without padding; the last batch
/// may be smaller.
class EvaluationExamples {
 public:
  /// Batches have up to `sequences` examples, at least 1.
  /// requires  the examples outlive the source
  /// throws    ArgumentError, as ExampleBatches does
  EvaluationExamples(const ExampleList& set, detail::ExampleRange range, int sequences);

  bool next(HostBatch& batch);  ///< false, and an empty batch, after the last example
  bool draw(BatchDraw& draw);   ///< false after the last example; see DividedSource
  /// Makes a drawn batch (DividedSource).
  void fill(const BatchDraw& draw, HostBatch& batch) const;
  /// The state after the last batch (DataSource).
  SamplerState state() const { return now; }
  /// What the replies of the examples are, if they have some (AnySource::replies()).
  std::optional<ReplyForm> replies() const { return set->replies(); }
  /// Restores a state (DataSource); a fresh state() is the beginning.
  void restore(const SamplerState& saved);

 private:
  const ExampleList* set;
  detail::ExampleRange range;
  int sequences;
  SamplerState now;
  BatchDraw drawn;  // used by next()
};

}  // namespace sinter
