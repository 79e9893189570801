// SPDX-License-Identifier: Apache-2.0
// The interface between examples of any kind and the sources that make batches of them.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "sinter/data/batching.hpp"
#include "sinter/data/host_batch.hpp"
#include "sinter/data/reply_form.hpp"
#include "sinter/data/tokenizer/tokenizer.hpp"

namespace sinter {

/// Examples of different lengths in memory, each a sequence of its own. ExampleBatches and
/// EvaluationExamples make batches of them. Any number of threads may read a list at the same time.
class ExampleList {
 public:
  virtual ~ExampleList() = default;

  /// Number of examples.
  virtual std::int64_t size() const = 0;
  /// Number of records that were added, including those without an example.
  virtual std::int64_t records() const = 0;
  /// Number of examples in the first `count` records.
  virtual std::int64_t examples_of(std::int64_t count) const = 0;
  /// Number of entries of HostBatch::ids.
  virtual int inputs() const = 0;
  /// Number of entries of HostBatch::values.
  virtual int values() const { return 0; }
  /// Maximum rows of an example on axis 0.
  virtual int max_rows() const = 0;
  /// Maximum rows of an example on axis 1; 0 if examples have rows only on axis 0.
  virtual int max_second_rows() const { return 0; }
  /// The most rows of an example on axis 1 in a batch that cuts it to `most` rows on axis 0: as large
  /// a part of max_second_rows(), rounded up.
  int second_limit(int most) const;
  /// The rows of an example: of its context and of its label.
  /// requires  0 <= number < size(); also for rows() and append()
  virtual ExampleLength length(std::int64_t number) const = 0;
  /// Number of rows of an example on axis 0.
  virtual int rows(std::int64_t number) const { return length(number).rows(); }
  /// Number of rows of an example on axis 1, in a batch that cuts it to `most` rows on axis 0; 0 if
  /// examples have none. The default finds it by appending the example to another batch.
  virtual int second_rows(std::int64_t number, int most) const;
  /// Appends an example to a batch as a sequence, cut to `most` rows on axis 0 and in proportion on
  /// axis 1. Rows of padding fill axis 0 up to `padded` rows; append_second_padding() adds those of
  /// axis 1. Adds to the batch's counts of examples; their `label` is the number of predictions.
  virtual void append(HostBatch& batch, std::int64_t number, int most, int padded) const = 0;
  /// append() without the content, for a batch that has the content of only a part: ids and values
  /// stay unchanged. The default finds the length by appending the example to another batch; a list
  /// that knows it need not read the tokens.
  virtual void append_empty(HostBatch& batch, std::int64_t number, int most, int padded) const;
  /// Appends rows of padding to the inputs on axis 1, and nothing else. The default is for examples
  /// without rows on axis 1.
  /// throws    Error by default, if they have some
  virtual void append_second_padding(HostBatch& batch, int rows) const;
  /// The special tokens among those of the examples.
  virtual std::vector<SpecialToken> special() const = 0;
  /// What the replies of the examples are; none if they have no replies.
  virtual std::optional<ReplyForm> replies() const { return std::nullopt; }
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
