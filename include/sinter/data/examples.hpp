// SPDX-License-Identifier: Apache-2.0
// Examples of different lengths, as tokens in memory: a context and its label, or a text alone.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sinter/data/example_list.hpp"
#include "sinter/data/example_marks.hpp"
#include "sinter/data/tokenizer/tokenizer.hpp"

namespace sinter {

/// How long examples may be; what is longer is cut.
struct ExampleLimits {
  int context = 256;  ///< tokens of a context at most, at least 1: its last ones are kept
  int label = 256;    ///< tokens that a label predicts at most, at least 1: its first ones are kept
  int history = 0;    ///< turns of a dialogue that are a context at most, the newest; 0 for all

  /// Rows of an example at most.
  int rows() const { return context + label; }
};

/// Rows of a label, and of padding behind them.
struct LabelRows {
  int first, count;  ///< of the label
  int padding;       ///< rows that predict nothing
};

/// What an ExampleSet has kept of an example.
struct ExampleTokens {
  std::span<const std::int32_t> context;  ///< c1 … cm
  std::span<const std::int32_t> label;    ///< l1 … ln
  bool ends;                              ///< the label predicts `end`: no limit has cut it
  bool is_cut;                            ///< a limit has cut the context or the label

  /// How many tokens the label predicts.
  int label_rows() const { return int(label.size()) + ends; }
  /// Appends rows of the label, of which there are label_rows(): to `shown` those of start l1 … ln,
  /// to `targets` those of l1 … ln end.
  void append_label(const ExampleMarks& marks, LabelRows rows, std::vector<std::int32_t>& shown,
                    std::vector<std::int32_t>& targets) const;
};

/// Holds examples as tokens.
///
/// An example is rows of tokens, each of which predicts the next token or nothing (target -1):
///   tokens    c1 c2 … cm  start  l1 … ln
///   targets   -1 -1 … -1     l1  l2 … end
/// c is the context and l the label. Which tokens `start` and `end` are is said by marks_of(). A
/// context that is too long loses its first tokens, a label its last ones and `end`, so that no
/// model learns to stop where a limit has cut: ParlAI's text_truncate and label_truncate. A text
/// alone is a label without a context, and may be as long as a context and a label together.
///
/// Each text is held once, as 4 bytes for a token; each example takes 24 bytes more, so that the
/// replies of a dialogue, whose contexts overlap, need no copies.
class ExampleSet final : public ExampleList {
 public:
  /// What was cut, and how long examples are.
  struct Figures {
    std::int64_t context_tokens = 0;                ///< of all contexts, after cutting
    std::int64_t label_tokens = 0;                  ///< predictions of all labels, after cutting
    std::int64_t contexts_cut = 0, labels_cut = 0;  ///< how many were too long
    std::int64_t examples_cut = 0;                  ///< those with either
    int longest_context = 0, longest_label = 0;     ///< after cutting
  };

  /// throws    ArgumentError if a limit is out of range, if a sequence of such limits has 2³¹ rows;
  ///           and what marks_of() throws
  ExampleSet(const Tokenizer& t, ExampleLimits limits) : ExampleSet(t, limits, marks_of(t)) {}
  /// The same with other marks than those of the tokenizer.
  ExampleSet(Tokenizer tokenizer, ExampleLimits limits, ExampleMarks marks);

  /// Adds a record of one example.
  /// throws    ArgumentError if there are 2³¹ - 1 records or examples; so do the others. What the
  ///           tokenizer throws leaves the set as it was
  void add_pair(std::string_view context, std::string_view label);
  /// Adds a record of one example, which is a text alone.
  void add_text(std::string_view text);
  /// Adds a record of an example for each turn but the first: the label is the turn, the context
  /// the turns before it, with line breaks between them (ParlAI's delimiter).
  void add_dialogue(std::span<const std::string> turns);
  /// The same as add_dialogue(), and for a pair as add_pair(), of turns that are tokens.
  void add_turns(std::span<const std::vector<std::int32_t>> turns);
  /// The same as add_text(), of a text that is tokens.
  void add_tokens(std::span<const std::int32_t> text);

  /// Asks for the memory of so many tokens, so that it is not moved later.
  void reserve(std::size_t token_count) { tokens.reserve(token_count); }

  /// See ExampleList; so for the others that override.
  std::int64_t size() const override { return std::int64_t(examples.size()); }
  std::int64_t records() const override { return record_count; }
  int inputs() const override { return 2; }
  int most_rows() const override { return bounds.rows(); }
  /// How long the examples may be.
  const ExampleLimits& limits() const { return bounds; }
  /// The tokens of examples that stand for no text.
  const ExampleMarks& marks() const { return mark; }
  /// All ids are below it: the tokenizer's vocabulary and the marks.
  int vocabulary() const { return mark.vocabulary(tokenizer); }
  /// The special tokens among these: the tokenizer's, and what stands before and behind a label.
  std::vector<SpecialToken> special() const override;
  /// Of all examples.
  const Figures& figures() const { return all; }

  /// The tokens of an example, until the next one is added.
  /// requires  0 <= number < size()
  ExampleTokens at(std::int64_t number) const;

  ExampleLength length(std::int64_t number) const override;
  std::int64_t examples_of(std::int64_t count) const override;
  /// Appends an example to a batch, as a sequence: ids[0] are its tokens, ids[1] its targets. Of
  /// one with more rows than `most`, the last ones are taken, or the first ones if it is a text
  /// alone. Rows of padding, which predict nothing, follow until there are at least `padded`. Adds to
  /// the batch's counts of examples.
  void append(HostBatch& batch, std::int64_t number, int most, int padded = 0) const override;
  void append_empty(HostBatch& batch, std::int64_t number, int most, int padded) const override;
  std::uint64_t hash() const override;

 private:
  struct Example {
    std::int64_t label_begin;     // in `tokens`
    std::int32_t context, label;  // rows
    std::int32_t label_tokens;    // label, or one less where `end` is predicted
    std::int32_t record;
  };
  Tokenizer tokenizer;
  ExampleLimits bounds;
  ExampleMarks mark;
  std::vector<std::int32_t> delimiter;
  std::vector<std::int32_t> tokens;  // the context of an example ends a delimiter before its label
  std::vector<Example> examples;
  std::vector<bool> is_cut;  // of each example, whether a limit has cut it
  std::int64_t record_count = 0;
  Figures all;

  void require_room(std::size_t more) const;
  void push(std::int64_t label_begin, std::int64_t context, std::int64_t label, int most);
};

}  // namespace sinter
