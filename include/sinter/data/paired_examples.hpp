// SPDX-License-Identifier: Apache-2.0
// Examples of two sequences, what is replied to and the reply, as tokens in memory.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sinter/data/examples.hpp"

namespace sinter {

/// The form of the pairs of sequences that dialogues become.
struct PairedForm {
  int text = 256;   ///< maximum rows on axis 1, at least 2: tokens of what is replied to, and `end`
  int label = 256;  ///< maximum rows on axis 0, at least 1
  int history = 0;  ///< maximum number of turns that are replied to, the newest; 0 for all
  std::int32_t start = -1;  ///< id that begins a reply; -1 for the mark `start` of marks_of()
};

/// Holds the examples of an ExampleSet for models with an encoder and a decoder. Each is two
/// sequences with the same number in a batch:
///   ids[0], axis 1    c1 … cm  end         what the encoder reads
///   ids[1], axis 0    start  l1 … ln       what the decoder reads
///   ids[2], axis 0       l1  …  ln  end    what it predicts
///
/// c is the context, of which the last text - 1 tokens are kept. l is the label; if it is too long,
/// it loses its last tokens and `end`. No sequence is empty: without a context, the encoder reads
/// `end`. The marks are those of marks_of(), except for a `start` in the form.
///
/// Where a batch is padded, `pad` stands behind the end on axis 1, and with the target -1 behind the
/// reply on axis 0.
///
/// A batch of fewer rows has the first rows of the label. Of the context it has the last tokens and
/// `end`, in the proportion of the limits, rounded up. ExampleLength and ExampleCounts count axis 1
/// as context, axis 0 as label.
class PairedExamples final : public ExampleList {
 public:
  /// throws    ArgumentError if a limit is out of range, or `start` below -1; and what ExampleSet
  ///           throws
  PairedExamples(const Tokenizer& tokenizer, PairedForm form);

  /// Adds a record with an example for each turn but the first (ExampleSet).
  void add_dialogue(std::span<const std::string> turns) { set.add_dialogue(turns); }
  /// Adds a record, as add_dialogue() does, of turns that are tokens.
  void add_turns(std::span<const std::vector<std::int32_t>> turns) { set.add_turns(turns); }
  /// Reserves memory for `token_count` tokens, so that they are not moved later.
  void reserve(std::size_t token_count) { set.reserve(token_count); }

  /// Implements ExampleList; so do the other functions that override.
  std::int64_t size() const override { return set.size(); }
  std::int64_t records() const override { return set.records(); }
  std::int64_t examples_of(std::int64_t count) const override { return set.examples_of(count); }
  int inputs() const override { return 3; }
  int max_rows() const override { return form.label; }
  int max_second_rows() const override { return form.text; }
  ExampleLength length(std::int64_t number) const override;
  int rows(std::int64_t number) const override { return length(number).label; }
  int second_rows(std::int64_t number, int most) const override;
  void append(HostBatch& batch, std::int64_t number, int most, int padded = 0) const override;
  void append_empty(HostBatch& batch, std::int64_t number, int most, int padded) const override;
  void append_second_padding(HostBatch& batch, int rows) const override;
  std::vector<SpecialToken> special() const override { return set.special(); }
  std::optional<ReplyForm> replies() const override { return set.replies(); }
  std::uint64_t hash() const override;

  /// All ids are below this: it covers the tokenizer's vocabulary and the marks.
  int vocabulary() const { return set.vocabulary(); }
  /// Lengths and cuts of all examples; a context is all that the encoder reads.
  ExampleSet::Figures figures() const;

 private:
  PairedForm form;
  ExampleSet set;
};

}  // namespace sinter
