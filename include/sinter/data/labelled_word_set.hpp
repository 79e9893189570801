// SPDX-License-Identifier: Apache-2.0
// Sentences of words with a class each, as tokens in memory.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "sinter/data/example_list.hpp"
#include "sinter/data/example_marks.hpp"
#include "sinter/data/full_lengths.hpp"
#include "sinter/data/prompt.hpp"

namespace sinter {

/// The form of the sequences of labelled words.
struct LabelledWordForm {
  int context = 128;   ///< maximum tokens of a sequence, including its two marks
  bool types = false;  ///< true if batches have the type of each token, which is 0
};

/// Holds sentences as tokens. Each is a sequence of the tokens of its words, in which the first
/// token of a word has the word's class. The word's other tokens have none, and neither do marks:
///   tokens    start  a1 a2 a3  b1  c1 c2  end
///   targets     -1    A -1 -1   B   C -1   -1
/// In a batch ids[0] are the tokens, with `types` ids[1] the types, and the last entry has the
/// targets. The marks are those of labelled texts (labelled_marks_of). A blank stands between words
/// where the tokenizer has one. A sentence that is too long for `context` loses its last tokens.
/// One in which no token has a class is no example.
class LabelledWordSet final : public ExampleList {
 public:
  /// Lengths of the sequences, and number of cuts.
  struct Figures {
    std::int64_t rows = 0;           ///< rows of all sequences, after cutting
    std::int64_t cut = 0;            ///< number of sequences that were too long
    int longest = 0;                 ///< maximum rows of a sequence, after cutting
    std::vector<std::int64_t> of{};  ///< number of words of each class
  };

  /// throws    ArgumentError if `context` has no room for the marks and a token, or `classes` is
  ///           below 1; and what marks_of() throws
  LabelledWordSet(Tokenizer tokenizer, LabelledWordForm form, int classes);

  /// Adds a sentence of words as tokens, each with its class, or below zero without one.
  /// throws    ArgumentError if there are not as many classes as words, if a class is not below
  ///           `classes`, or if there are 2³¹ - 1 records. The set is then unchanged
  void add_tokens(std::span<const std::vector<std::int32_t>> words,
                  std::span<const std::int32_t> classes);
  /// Reserves memory for `token_count` tokens, so that they are not moved later.
  void reserve(std::size_t token_count);

  /// Implements ExampleList; so do the other functions that override.
  std::int64_t size() const override { return std::int64_t(examples.size()); }
  std::int64_t records() const override { return added; }
  std::int64_t examples_of(std::int64_t count) const override;
  int inputs() const override { return form.types ? 3 : 2; }
  int max_rows() const override { return form.context; }
  ExampleLength length(std::int64_t number) const override;
  void append(HostBatch& batch, std::int64_t number, int most, int padded = 0) const override;
  std::vector<SpecialToken> special() const override;
  std::uint64_t hash() const override;

  /// Lengths, cuts and classes of all sequences.
  const Figures& figures() const { return all; }

 private:
  struct Example {
    std::int64_t begin;   // in `tokens` and `targets`
    std::int64_t record;  // its number among all that were added
    std::int32_t count;   // of its tokens
    std::int32_t is_cut;  // 0 or 1
  };
  Tokenizer tokenizer;
  LabelledWordForm form;
  detail::ExampleMarks marks;
  std::vector<std::int32_t> tokens, targets;
  std::vector<Example> examples;
  detail::FullLengths full;
  std::int64_t added = 0;
  Figures all;
};

namespace detail {
/// The words of a text: what stands between blanks and tabs.
std::vector<std::string_view> words_in(std::string_view text);
/// A word as text for a tokenizer: a blank stands before each but the first.
std::string word_text(std::string_view word, bool is_first);
/// Returns the tokens of a text's words, with their types if the form has them, in the form that
/// LabelledWordSet trains; Prompt::words has the first token of each word.
/// throws    ArgumentError if there is no word, if one has no token, or if they are too many for
///           the context; and what require_example_tokenizer() throws, for a policy with this
///           vocabulary
Prompt labelled_words_prompt(const Tokenizer& tokenizer, int vocabulary, LabelledWordForm form,
                             std::string_view text);
}  // namespace detail

}  // namespace sinter
