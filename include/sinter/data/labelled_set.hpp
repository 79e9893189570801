// SPDX-License-Identifier: Apache-2.0
// Texts, or pairs of them, each with a label, as tokens in memory.
#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "sinter/base/label_kind.hpp"
#include "sinter/data/example_list.hpp"
#include "sinter/data/example_marks.hpp"
#include "sinter/data/full_lengths.hpp"
#include "sinter/data/prompt.hpp"

namespace sinter {

/// The marks around labelled texts.
enum class TextMarks : std::uint8_t {
  bert,    ///< [CLS] a [SEP], or for a pair [CLS] a [SEP] b [SEP]
  roberta  ///< <s> a </s>, or for a pair <s> a </s> </s> b </s>
};
/// The name of a choice, as options print it.
constexpr std::string_view name_of(TextMarks marks) {
  return marks == TextMarks::bert ? "bert" : "roberta";
}

/// The form of the sequences of labelled texts.
struct LabelledForm {
  int context = 128;                            ///< maximum tokens of a sequence, including marks
  bool pairs = false;                           ///< true if a sequence has two texts
  bool types = false;                           ///< true if batches have the type of each token
  TextMarks marks = TextMarks::bert;            ///< the marks around texts
  LabelKind label_kind = LabelKind::one_class;  ///< what a label says; not class_of_token

  /// Number of marks of a sequence.
  int mark_count() const { return !pairs ? 2 : marks == TextMarks::bert ? 3 : 4; }
};

namespace detail {
/// Returns the marks of labelled texts: `start` before the first text and `end` after each. They
/// are [CLS] and [SEP], for `marks` of RoBERTa <s> and </s>, if the tokenizer has both as special
/// tokens; else those of marks_of(). `pad` is always that of marks_of().
/// throws    what marks_of() throws
ExampleMarks labelled_marks_of(const Tokenizer& tokenizer, TextMarks marks = TextMarks::bert);

/// Loads the tokenizer of labelled texts with these marks, as example_tokenizer() does.
/// throws    what it throws; ArgumentError if a mark is beyond the vocabulary
Tokenizer labelled_tokenizer(const std::filesystem::path& path, int vocabulary, TextMarks marks);
}  // namespace detail

/// Holds labelled texts as tokens. Each is a sequence of one text, or of two:
///   tokens    start  a1 … am  end                  start  a1 … am  end  b1 … bn  end
///   types       0     0 … 0    0                     0     0 … 0    0    1 … 1    1
/// and a label. With TextMarks::roberta, a pair has `end` twice between its texts, and all types
/// are 0. In a batch ids[0] are the tokens, and with `types` ids[1] the types. If labels are one
/// class, the last entry of ids has that of each sequence. Else values[0] has numbers for each
/// sequence: those of its label, or 1 for each of its classes and 0 for the others. The marks are
/// those of labelled_marks_of().
///
/// Texts that are too long for `context` are cut as by the strategy "longest_first" of the package
/// tokenizers (Hugging Face's truncation=True). They lose their last tokens: of two texts the
/// longer one until both are equally long, then both in turn. Marks are never lost.
///
/// One row of a sequence counts as a label, the others as a context (ExampleLength, ExampleCounts).
class LabelledSet final : public ExampleList {
 public:
  /// Lengths of the sequences, and number of cuts.
  struct Figures {
    std::int64_t rows = 0;           ///< rows of all sequences, after cutting
    std::int64_t cut = 0;            ///< number of sequences that were too long
    int longest = 0;                 ///< maximum rows of a sequence, after cutting
    std::vector<std::int64_t> of{};  ///< number of sequences of each class
    float least = 0, most = 0;       ///< of the numbers of all labels, if they are numbers
  };

  /// `classes` are those that labels have, or how many numbers a label has.
  /// throws    ArgumentError if `context` has no room for the marks, or `classes` is below 1; and
  ///           what marks_of() throws
  LabelledSet(Tokenizer tokenizer, LabelledForm form, int classes);

  /// Adds a record of one sequence: two texts if the form is of pairs, else one.
  /// throws    ArgumentError if there is another number of texts, if the class is not in [0,
  ///           classes), or if there are 2³¹ - 1 records; and what the tokenizer throws. The set is
  ///           then unchanged
  void add(std::span<const std::string_view> texts, std::int32_t label);
  /// Adds a record, as add() does, of texts that are tokens.
  void add_tokens(std::span<const std::vector<std::int32_t>> texts, std::int32_t label);
  /// Adds such a record whose label is numbers, or several classes as numbers.
  /// throws    ArgumentError also if there are not `classes` numbers, or the labels are one class
  void add_tokens(std::span<const std::vector<std::int32_t>> texts, std::span<const float> label);

  /// Reserves memory for `token_count` tokens, so that they are not moved later.
  void reserve(std::size_t token_count) { tokens.reserve(token_count); }

  /// Implements ExampleList; so do the other functions that override.
  std::int64_t size() const override { return std::int64_t(examples.size()); }
  std::int64_t records() const override { return size(); }
  std::int64_t examples_of(std::int64_t count) const override { return count; }
  int inputs() const override { return 1 + form.types + !has_numbers(); }
  int values() const override { return has_numbers(); }
  int max_rows() const override { return form.context; }
  ExampleLength length(std::int64_t number) const override;
  /// Appends a sequence, cut to `most` rows in the same way as to `context`.
  void append(HostBatch& batch, std::int64_t number, int most, int padded = 0) const override;
  void append_empty(HostBatch& batch, std::int64_t number, int most, int padded) const override;
  std::vector<SpecialToken> special() const override;
  std::uint64_t hash() const override;

  /// All ids are below this: it covers the tokenizer's vocabulary and the marks.
  int vocabulary() const { return marks.vocabulary(tokenizer); }
  /// Lengths, cuts and labels of all sequences.
  const Figures& figures() const { return all; }
  /// What a label says.
  LabelKind label_kind() const { return form.label_kind; }

 private:
  struct Example {
    std::int64_t begin;          // in `tokens`
    std::int32_t first, second;  // tokens of each text
    std::int32_t label;
    std::int32_t is_cut;  // 0 or 1
  };
  Tokenizer tokenizer;
  LabelledForm form;
  detail::ExampleMarks marks;
  std::vector<std::int32_t> tokens;
  std::vector<Example> examples;
  std::vector<float> numbers;  // of each label in turn
  detail::FullLengths full;    // with a label of one row
  Figures all;

  bool has_numbers() const { return form.label_kind != LabelKind::one_class; }
  int predictions() const { return has_numbers() ? int(all.of.size()) : 1; }
  void add_texts(std::span<const std::vector<std::int32_t>> texts, std::int32_t label);
  int rows_of(const Example& example) const;
  int append_rows(HostBatch& batch, std::int64_t number, int most, int padded) const;
};

namespace detail {
/// Returns a text's tokens, with their types if the form has them, in the form that LabelledSet
/// trains. If the form is of pairs, the two texts have a tab between them.
/// throws    ArgumentError if a pair does not have exactly one tab; and what LabelledSet and
///           require_example_tokenizer() throw, for a policy with this vocabulary
Prompt labelled_prompt(const Tokenizer& tokenizer, int vocabulary, LabelledForm form,
                       std::string_view text);
}  // namespace detail

}  // namespace sinter
