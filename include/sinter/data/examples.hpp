// SPDX-License-Identifier: Apache-2.0
// Examples of different lengths, as tokens in memory: a context and its label, or only a text.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sinter/data/example_list.hpp"
#include "sinter/data/example_marks.hpp"
#include "sinter/data/full_lengths.hpp"
#include "sinter/data/tokenizer/tokenizer.hpp"

namespace sinter {

namespace detail {
/// Maximum lengths of examples; longer ones are cut.
struct ExampleLimits {
  int context = 256;  ///< maximum tokens of a context, at least 1: the last ones are kept
  int label = 256;    ///< maximum tokens that a label predicts, at least 1: the first ones are kept
  int history = 0;    ///< maximum turns of a dialogue in a context, the newest; 0 for all

  /// Maximum rows of an example.
  int rows() const { return context + label; }
};
}  // namespace detail

/// Rows of a label, and the rows of padding after them.
struct LabelRows {
  int first, count;  ///< rows of the label
  int padding;       ///< rows that predict nothing
};

/// The tokens of an example in an ExampleSet.
struct ExampleTokens {
  std::span<const std::int32_t> context;  ///< c1 … cm
  std::span<const std::int32_t> label;    ///< l1 … ln
  bool ends;                              ///< true if the label predicts `end`: no limit has cut it
  ExampleLength full;                     ///< rows of both before a limit has cut them

  /// Number of tokens that the label predicts.
  int label_rows() const { return int(label.size()) + ends; }
  /// Appends some of the label's label_rows() rows: tokens of start l1 … ln to `shown`, tokens of
  /// l1 … ln end to `targets`.
  void append_label(const detail::ExampleMarks& marks, LabelRows rows,
                    std::vector<std::int32_t>& shown, std::vector<std::int32_t>& targets) const;
};

/// Holds examples as tokens.
///
/// An example is rows of tokens, each of which predicts the next token or nothing (target -1):
///   tokens    c1 c2 … cm  start  l1 … ln
///   targets   -1 -1 … -1     l1  l2 … end
/// c is the context and l the label; marks_of() defines the tokens `start` and `end`. A context
/// that is too long loses its first tokens, a label its last ones and `end` (ParlAI's text_truncate
/// and label_truncate), so that no model learns to stop where a limit has cut. A text without a
/// context is a label, and may be as long as a context and a label together.
///
/// Each text is stored once, as 4 bytes per token, and each example takes 24 bytes more, or 40 if it
/// is cut: the replies of a dialogue, whose contexts overlap, need no copies.
class ExampleSet final : public ExampleList {
 public:
  /// Lengths of the examples, and numbers of cuts.
  struct Figures {
    std::int64_t context_tokens = 0;                ///< in all contexts, after cutting
    std::int64_t label_tokens = 0;                  ///< predictions of all labels, after cutting
    std::int64_t contexts_cut = 0, labels_cut = 0;  ///< number of each that were too long
    std::int64_t examples_cut = 0;                  ///< examples in which either was cut
    int longest_context = 0, longest_label = 0;     ///< after cutting
  };

  /// throws    ArgumentError if a limit is out of range, or a sequence within the limits may have
  ///           2³¹ rows; and what marks_of() throws
  ExampleSet(const Tokenizer& t, detail::ExampleLimits limits)
      : ExampleSet(t, limits, detail::marks_of(t)) {}
  /// Takes other marks than the tokenizer's own.
  ExampleSet(Tokenizer tokenizer, detail::ExampleLimits limits, detail::ExampleMarks marks);

  /// Adds a record of one example.
  /// throws    ArgumentError if there are 2³¹ - 1 records or examples; so do the other functions
  ///           that add. If the tokenizer throws, the set is unchanged
  void add_pair(std::string_view context, std::string_view label);
  /// Adds a record of one example, a text without a context.
  void add_text(std::string_view text);
  /// Adds a record with an example for each turn but the first: the label is the turn, the context
  /// the turns before it, with line breaks between them (ParlAI's delimiter).
  void add_dialogue(std::span<const std::string> turns);
  /// Adds turns of tokens as add_dialogue() does, or a pair of them as add_pair() does.
  void add_turns(std::span<const std::vector<std::int32_t>> turns);
  /// Adds a text of tokens as add_text() does.
  void add_tokens(std::span<const std::int32_t> text);

  /// Reserves memory for `token_count` tokens, so that they are not moved later.
  void reserve(std::size_t token_count) { tokens.reserve(token_count); }

  /// Implements ExampleList; so do the other functions that override.
  std::int64_t size() const override { return std::int64_t(examples.size()); }
  std::int64_t records() const override { return record_count; }
  int inputs() const override { return 2; }
  int max_rows() const override { return bounds.rows(); }
  /// The maximum lengths of examples.
  const detail::ExampleLimits& limits() const { return bounds; }
  /// The tokens of examples that stand for no text.
  const detail::ExampleMarks& marks() const { return mark; }
  /// All ids are below this: it covers the tokenizer's vocabulary and the marks.
  int vocabulary() const { return mark.vocabulary(tokenizer); }
  /// The special tokens among the ids: the tokenizer's, and the marks before and after a label.
  std::vector<SpecialToken> special() const override;
  /// Lengths and cuts of all examples.
  const Figures& figures() const { return all; }

  /// The tokens of an example, valid until the next one is added.
  /// requires  0 <= number < size()
  ExampleTokens at(std::int64_t number) const;

  ExampleLength length(std::int64_t number) const override;
  std::int64_t examples_of(std::int64_t count) const override;
  /// Appends an example to a batch, as a sequence: ids[0] are its tokens, ids[1] its targets. If it
  /// has more than `most` rows, only its last ones, or the first ones of a text without a context.
  /// Rows of padding, which predict nothing, fill the sequence up to `padded` rows. Adds to the
  /// batch's counts.
  void append(HostBatch& batch, std::int64_t number, int most, int padded = 0) const override;
  void append_empty(HostBatch& batch, std::int64_t number, int most, int padded) const override;
  /// A reply has up to as many tokens as a label; a text, if no example has a context, as many as it may.
  std::optional<ReplyForm> replies() const override;
  std::uint64_t hash() const override;

 private:
  struct Example {
    std::int64_t label_begin;     // in `tokens`
    std::int32_t context, label;  // rows
    std::int32_t label_tokens;    // label, or one less if `end` is predicted
    std::int32_t record;
  };
  Tokenizer tokenizer;
  detail::ExampleLimits bounds;
  detail::ExampleMarks mark;
  std::vector<std::int32_t> delimiter;
  std::vector<std::int32_t> tokens;  // the context of an example ends a delimiter before its label
  std::vector<Example> examples;
  detail::FullLengths full;
  std::int64_t record_count = 0;
  Figures all;

  void require_room(std::size_t more) const;
  void push(std::int64_t label_begin, std::int64_t context, std::int64_t label, int most);
};

}  // namespace sinter
