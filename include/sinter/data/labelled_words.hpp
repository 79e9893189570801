// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/base/label_kind.hpp"
#include "sinter/base/text.hpp"
#include "sinter/data/data_view.hpp"
#include "sinter/data/example_files.hpp"
#include "sinter/data/labelled_text.hpp"
#include "sinter/data/token_classes.hpp"
#include "sinter/policy/concepts.hpp"

namespace sinter {

struct LabelledWordsOptions {
  int context = 128;  ///< maximum tokens of a sequence, including marks (LabelledWordSet)
  /// size of --tokenizer's vocabulary, including its marks (labelled_marks_of); by default that of
  /// bytes
  int vocabulary = byte_example_vocabulary;
  int classes = 2;     ///< labels are whole numbers from 0 to classes - 1, or names of classes
  bool types = false;  ///< true if a batch has the type of each token, as Bert's .pairs takes it
  WordFormat format = WordFormat::json_lines;  ///< format of the sentences
  BadRecords bad = fail;                       ///< what is done with a sentence that cannot be read
  int bad_limit = 100;  ///< maximum number of bad sentences that `skip` leaves out
  SINTER_FIELDS((context).at_least(3).at_most(1 << 24), (vocabulary).at_least(1),
                (classes).at_least(2), (types), (format), (bad),
                (bad_limit).at_least(0).adjustable())
};

namespace detail {
template <Text Label, Text Words>
SINTER_RULE(
    LabelsAndWordsHaveNames, Label.text[0] != 0 && Words.text[0] != 0,
    "LabelledWords: the name of the labels or of the words is empty. Why: each sentence has words "
    "and their classes. Fix: name both, as in LabelledWords<\"ner_tags\", \"tokens\">.");
template <LabelledWordsOptions O, Text Names>
SINTER_RULE(
    EachClassOfWordsHasAName,
    name_count(Names.view()) == 0 || name_count(Names.view()) == O.classes,
    "LabelledWords: the names of the classes are not as many as its .classes. Why: the first name "
    "is that of class 0, the next that of class 1, and so on. Fix: name each class once, with "
    "commas between, as in \"O, B-PER, I-PER\" with .classes = 3.");

/// The unit of words with a class each. Their loss is the cross-entropy in nats.
inline constexpr DataUnit word_unit{"word", "words", "nats"};
}  // namespace detail

/// Sentences of words with a class each, such as names of people: LabelledWords<"ner_tags",
/// "tokens"> names the fields of JSON lines, which are lists, or columns of CoNLL's files by
/// number. Labels are whole numbers, -100 for a word without a class, or the words of Names, a list
/// with commas between: LabelledWords<"tags", "tokens", {.classes = 3}, "O, B-PER, I-PER">. A batch
/// has the tokens, with the option `types` their types, and a class for the first token of each
/// word. A model that fits is Bert<{.labels = 3, .label_kind = LabelKind::class_of_token}>. Words
/// are bytes, or with another vocabulary the tokens of --tokenizer. The last sentences are held
/// out.
template <detail::Text Label, detail::Text Words, LabelledWordsOptions O = {},
          detail::Text Names = "">
struct LabelledWords {
  using slot = slot::data;
  using Options = LabelledWordsOptions;
  using rules = RuleList<detail::LabelsAndWordsHaveNames<Label, Words>,
                         detail::EachClassOfWordsHasAName<O, Names>>;
  using model_rules = RuleList<detail::TokensHaveClasses>;
  static constexpr Options options = O;
  static constexpr int context = O.context, vocabulary = O.vocabulary;
  static constexpr int classes = O.classes;  ///< number of classes of words
  static constexpr LabelKind label_kind = LabelKind::class_of_token;  ///< what a label says
  static constexpr bool types = O.types;  ///< true if a batch has types of tokens
  static constexpr bool takes_tokenizer = true;
  static constexpr bool has_examples = true;  ///< policies of the slot batching act on them

  /// The names of the classes, with commas between; empty if they have numbers alone.
  static constexpr std::string_view class_names = Names.view();
  static constexpr DataUnit unit = detail::word_unit;
  static constexpr std::string_view paths_help =
      "Files and folders of words with a class each: JSON lines, or the\n"
      "columns of CoNLL's files, as the recipe says. A folder stands for\n"
      "all files below it, sorted by path.";
  /// The names of the fields, or the numbers of the columns.
  static std::string text() { return std::string(Label.text) + ", " + Words.text; }
  static OpenedData open(const Options& o, const DataRequest& request) {
    return detail::open_labelled_words(request,
                                       {Label.text, Words.text, o.classes, o.format, class_names},
                                       detail::example_tokenizer(request.tokenizer, o.vocabulary),
                                       {o.context, o.types}, {o.bad, o.bad_limit});
  }
  static Tokenizer tokenizer() { return byte_tokenizer(); }
  /// `text` is words with blanks between.
  static Prompt prompt(const Options& o, const Tokenizer& tokenizer, std::string_view text) {
    return detail::labelled_words_prompt(tokenizer, o.vocabulary, {o.context, o.types}, text);
  }
};

}  // namespace sinter
