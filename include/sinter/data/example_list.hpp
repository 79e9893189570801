// SPDX-License-Identifier: Apache-2.0
// What batches of examples are made from, whatever an example is.
#pragma once
#include <cstdint>
#include <vector>

#include "sinter/data/batching.hpp"
#include "sinter/data/host_batch.hpp"
#include "sinter/data/tokenizer/tokenizer.hpp"

namespace sinter {

/// Examples of different lengths in memory, each a sequence of its own. ExampleBatches and
/// EvaluationExamples make batches of them. Any number of threads may read one at a time.
class ExampleList {
 public:
  virtual ~ExampleList() = default;

  /// The number of examples.
  virtual std::int64_t size() const = 0;
  /// The number of records that were added, those without an example included.
  virtual std::int64_t records() const = 0;
  /// The number of examples that the first `count` records gave.
  virtual std::int64_t examples_of(std::int64_t count) const = 0;
  /// How many entries HostBatch::ids has.
  virtual int inputs() const = 0;
  /// Rows of an example at most, on axis 0.
  virtual int most_rows() const = 0;
  /// The same on axis 1; 0 if examples have rows on axis 0 alone.
  virtual int most_second_rows() const { return 0; }
  /// How long an example is; so for rows() and append().
  /// requires  0 <= number < size()
  virtual ExampleLength length(std::int64_t number) const = 0;
  /// How many rows of an example are on axis 0.
  virtual int rows(std::int64_t number) const { return length(number).rows(); }
  /// Appends an example, cut to `most` rows on axis 0 and in the same proportion on axis 1, to a
  /// batch as a sequence. Rows of padding follow on axis 0 until there are at least `padded`. Axis 1
  /// has none: all rows of a sequence there are seen. Adds to the batch's counts of examples, whose
  /// `label` is how many predictions it has.
  virtual void append(HostBatch& batch, std::int64_t number, int most, int padded) const = 0;
  /// Does the same without the content, for a batch that has that of a part of its sequences alone: ids and
  /// values stay as they are. This one appends the example to another batch, to see how long it is; a list
  /// that knows this otherwise need not touch its tokens.
  virtual void append_empty(HostBatch& batch, std::int64_t number, int most, int padded) const;
  /// The special tokens among those of the examples.
  virtual std::vector<SpecialToken> special() const = 0;
  /// A hash of the tokens and of how they are cut into examples.
  virtual std::uint64_t hash() const = 0;

 protected:
  ExampleList() = default;
  ExampleList(const ExampleList&) = default;
  ExampleList(ExampleList&&) = default;
  ExampleList& operator=(const ExampleList&) = default;
  ExampleList& operator=(ExampleList&&) = default;
};

}  // namespace sinter
