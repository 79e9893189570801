// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/base/label_kind.hpp"
#include "sinter/base/text.hpp"
#include "sinter/data/data_view.hpp"
#include "sinter/data/example_files.hpp"
#include "sinter/data/sequence_classes.hpp"
#include "sinter/policy/concepts.hpp"

namespace sinter {

struct LabelledTextOptions {
  int context = 128;  ///< maximum tokens of a sequence, including marks (LabelledSet)
  /// size of --tokenizer's vocabulary, including its marks (labelled_marks_of); by default that of
  /// bytes
  int vocabulary = byte_example_vocabulary;
  /// Labels are whole numbers from 0 to classes - 1, or names of classes; or they have so many
  /// numbers.
  int classes = 2;
  LabelKind label_kind = LabelKind::one_class;  ///< what a label says
  bool types = false;  ///< true if a batch has the type of each token, as Bert's .pairs takes it
  TextMarks marks = TextMarks::bert;    ///< the marks around texts; Roberta needs its own
  TextFormat format = TextFormat::tsv;  ///< format of the records
  bool header =
      true;  ///< of tables: the first line names the columns; else they have numbers from 1
  BadRecords bad = fail;  ///< what is done with a record that cannot be read
  int bad_limit = 100;    ///< maximum number of bad records that `skip` leaves out
  SINTER_FIELDS((context).at_least(3).at_most(1 << 24), (vocabulary).at_least(1),
                (classes).at_least(1), (label_kind), (types), (marks), (format), (header), (bad),
                (bad_limit).at_least(0).adjustable())
};

namespace detail {
template <Text Label, Text First>
SINTER_RULE(
    LabelAndTextHaveNames, Label.text[0] != 0 && First.text[0] != 0,
    "LabelledText: the name of the label or of the first text is empty. Why: each record has a "
    "text and its class. Fix: name both, as in LabelledText<\"label\", \"sentence\">.");
template <LabelledTextOptions O>
SINTER_RULE(HeaderIsOfATable, O.header || O.format != TextFormat::json_lines,
            "LabelledText: .header = false with JSON lines. Why: it says that a table has no line "
            "of names; fields of JSON lines always have names. Fix: leave .header out.");

template <LabelledTextOptions O>
SINTER_RULE(ClassesDiffer, O.classes > 1 || O.label_kind != LabelKind::one_class,
            "LabelledText: there is one class. Why: each text is of one of `classes` classes, and "
            "of one class alone there is nothing to learn. Fix: at least .classes = 2; a label "
            "that is a number has .label_kind = LabelKind::numbers.");
template <LabelledTextOptions O>
SINTER_RULE(LabelsAreOfSequences, O.label_kind != LabelKind::class_of_token,
            "LabelledText: .label_kind = class_of_token. Why: a text has one label here, and no "
            "label for each of its words. Fix: LabelledWords, or another .label_kind.");
template <LabelledTextOptions O>
SINTER_RULE(ListsAreOfJson,
            O.label_kind != LabelKind::several_classes || O.format == TextFormat::json_lines,
            "LabelledText: several classes of a text in a table. Why: they are a list, and a field "
            "of a table has none. Fix: .format = TextFormat::json_lines, with a list such as "
            "[0, 2] or [\"good\", \"cheap\"] for each text.");
template <LabelledTextOptions O, Text Names>
SINTER_RULE(NumbersHaveNoNames, O.label_kind != LabelKind::numbers || Names.text[0] == 0,
            "LabelledText: names of classes, and labels that are numbers. Why: names stand for "
            "classes, and numbers are none. Fix: leave the names out, or .label_kind.");

/// The unit of numbers that are labels. Their loss is the squared error.
inline constexpr DataUnit number_unit{"number", "numbers"};
/// The unit of classes that a sequence has or has not. Their loss is the cross-entropy in nats.
inline constexpr DataUnit answer_unit{"answer", "answers", "nats"};

/// The unit of what is predicted of labels.
constexpr DataUnit unit_of(LabelKind kind) {
  if (kind == LabelKind::numbers) return number_unit;
  return kind == LabelKind::several_classes ? answer_unit : sequence_unit;
}

/// The number of names in a list with commas between; 0 if it is empty.
constexpr int name_count(std::string_view names) {
  return names.empty() ? 0 : int(std::ranges::count(names, ',')) + 1;
}
template <LabelledTextOptions O, Text Names>
SINTER_RULE(
    EachClassHasAName, name_count(Names.view()) == 0 || name_count(Names.view()) == O.classes,
    "LabelledText: the names of the classes are not as many as its .classes. Why: the first "
    "name is that of class 0, the next that of class 1, and so on. Fix: name each class "
    "once, with commas between, as in \"negative, positive\" with .classes = 2.");
}  // namespace detail

/// Texts with a label each, or pairs of texts: LabelledText<"label", "sentence"> and
/// LabelledText<"label", "premise", "hypothesis"> name the columns of a table or the fields of JSON
/// lines; other ones are ignored. Labels are whole numbers, or the words of Names, a list with
/// commas between: LabelledText<"label", "sentence", "", {.classes = 2}, "negative, positive">.
/// With `label_kind` a label is a number, several numbers or several classes. A batch has the
/// tokens, with the option `types` their types, and a class, or `classes` numbers, for each
/// sequence. A model that fits is Bert<{.labels = 2}>, or one of your own that takes
/// g.targets(pooled(0)), or g.target_values<N>(pooled(0)). LabelledSet describes
/// how texts are cut; they are bytes, or with another vocabulary the tokens of --tokenizer. The
/// last records are held out. A file that begins with "PAR1" is Parquet, as for Columns; its labels
/// may be whole numbers of any width.
template <detail::Text Label, detail::Text First, detail::Text Second = "",
          LabelledTextOptions O = {}, detail::Text Names = "">
struct LabelledText {
  using slot = slot::data;
  using Options = LabelledTextOptions;
  using rules =
      RuleList<detail::LabelAndTextHaveNames<Label, First>, detail::HeaderIsOfATable<O>,
               detail::ClassesDiffer<O>, detail::LabelsAreOfSequences<O>, detail::ListsAreOfJson<O>,
               detail::NumbersHaveNoNames<O, Names>, detail::EachClassHasAName<O, Names>>;
  using model_rules = RuleList<detail::SequencesHaveClasses, detail::LabelsAreOfOneKind,
                               detail::TypesAreTaken, detail::TypesSuffice, detail::ClassesSuffice,
                               detail::ClassesArePredicted, detail::ClassesSeeNoPadding>;
  static constexpr Options options = O;
  static constexpr int context = O.context, vocabulary = O.vocabulary;
  static constexpr int classes = O.classes;  ///< number of classes, or of numbers of a label
  static constexpr LabelKind label_kind = O.label_kind;  ///< what a label says
  static constexpr bool types = O.types;                 ///< true if a batch has types of tokens
  static constexpr bool pairs = Second.text[0] != 0;     ///< true if a sequence has two texts
  static constexpr bool takes_tokenizer = true;
  static constexpr bool has_examples = true;  ///< policies of the slot batching act on them

  /// The names of the classes, with commas between; empty if they have numbers alone.
  static constexpr std::string_view class_names = Names.view();
  static constexpr DataUnit unit = detail::unit_of(O.label_kind);
  static constexpr std::string_view paths_help =
      "Files and folders of texts with a label each: TSV, CSV or JSON\n"
      "lines, as the recipe says, or Parquet. A folder stands for all\n"
      "files below it, sorted by path.";
  /// The names of the columns or fields.
  static std::string text() {
    return std::string(Label.text) + ", " + First.text + (pairs ? ", " : "") + Second.text;
  }
  static OpenedData open(const Options& o, const DataRequest& request) {
    return detail::open_labelled_text(
        request,
        {Label.text, First.text, Second.text, o.classes, o.format, o.header, class_names,
         O.label_kind},
        detail::labelled_tokenizer(request.tokenizer, o.vocabulary, o.marks), form(o),
        {o.bad, o.bad_limit});
  }
  static Tokenizer tokenizer() { return byte_tokenizer(); }
  /// `text` is a text without its class, or a pair with a tab between its texts.
  static Prompt prompt(const Options& o, const Tokenizer& tokenizer, std::string_view text) {
    return detail::labelled_prompt(tokenizer, o.vocabulary, form(o), text);
  }

 private:
  static LabelledForm form(const Options& o) { return {o.context, pairs, o.types, o.marks}; }
};

}  // namespace sinter
