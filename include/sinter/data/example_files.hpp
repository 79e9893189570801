// SPDX-License-Identifier: Apache-2.0
// Opens files of examples for the verbs of a binary.
#pragma once
#include <cstdint>
#include <string_view>

#include "sinter/data/chat_set.hpp"
#include "sinter/data/data_view.hpp"
#include "sinter/data/examples.hpp"
#include "sinter/data/labelled_set.hpp"
#include "sinter/data/labelled_word_set.hpp"
#include "sinter/data/paired_examples.hpp"

namespace sinter {

/// What is done with a record that cannot be read.
enum BadRecords : std::uint8_t {
  fail,  // nothing is opened: an error names the file and the line
  skip   // it is left out, and the user is given the number of them
};
/// The name of a choice, as options print it.
constexpr std::string_view name_of(BadRecords bad) { return bad == fail ? "fail" : "skip"; }

/// How bad records are handled.
struct BadRecordRule {
  BadRecords bad = fail;  ///< what is done with them
  int limit = 100;  ///< maximum number of records that `skip` leaves out; one more is an error
};

/// The separator between the fields of a table.
enum class Separator : std::uint8_t {
  tab,       // TSV: fields are taken literally, without quotes (IANA's text/tab-separated-values)
  comma,     // CSV: a field may be in quotes, and then hold commas, line breaks and "" (RFC 4180)
  semicolon  // CSV of countries that write a decimal comma: as `comma`, with semicolons instead
};
/// The name of a separator, as options print it.
constexpr std::string_view name_of(Separator s) {
  constexpr std::string_view names[] = {"tab", "comma", "semicolon"};
  return names[int(s)];
}

/// The columns of a table that make examples.
struct TableColumns {
  std::string_view context, label;       ///< names, or numbers from 1; the first may be empty
  Separator separator = Separator::tab;  ///< separator of fields
  bool header = true;  ///< true if the first line names the columns; else they have numbers
};

/// The format of records of texts.
enum class TextFormat : std::uint8_t {
  tsv,            // tables, as Separator::tab
  csv,            // tables, as Separator::comma
  json_lines,     // one object per line
  csv_semicolons  // tables, as Separator::semicolon
};
/// The name of a format, as options print it.
constexpr std::string_view name_of(TextFormat format) {
  switch (format) {
    case TextFormat::tsv:
      return "tsv";
    case TextFormat::csv:
      return "csv";
    case TextFormat::json_lines:
      return "json_lines";
    case TextFormat::csv_semicolons:
      return "csv_semicolons";
  }
  return "";
}

/// The fields or columns of labelled texts.
struct LabelledColumns {
  std::string_view label, first, second;  ///< names, or numbers from 1; the last may be empty
  int classes = 2;  ///< labels are whole numbers below this, or have so many numbers
  TextFormat format = TextFormat::tsv;  ///< format of the files
  bool header = true;  ///< true if the first line of a table names the columns; else by number
  /// Names of the classes, with commas between, which labels then are; empty if labels are numbers.
  std::string_view names{};
  LabelKind label_kind = LabelKind::one_class;  ///< what a label says; not class_of_token
};

/// The format of sentences of labelled words.
enum class WordFormat : std::uint8_t {
  json_lines,  // one object per line, with a list of words and a list of labels
  columns      // one word per line, with columns between blanks, as in CoNLL's files
};
/// The name of a format, as options print it.
constexpr std::string_view name_of(WordFormat format) {
  return format == WordFormat::columns ? "columns" : "json_lines";
}

/// The fields or columns of labelled words.
struct LabelledWordColumns {
  std::string_view label, words;               ///< names of fields, or numbers of columns from 1
  int classes = 2;                             ///< labels are whole numbers below this
  WordFormat format = WordFormat::json_lines;  ///< format of the files
  /// Names of the classes, with commas between, which labels then are; empty if labels are numbers.
  std::string_view names{};
};

namespace detail {
/// Help for --data of dialogues.
inline constexpr std::string_view dialogue_paths_help =
    "Files and folders of dialogues, as JSON lines: objects with\n"
    "\"turns\", a list of [speaker, text]. A folder stands for all\n"
    "files below it, sorted by path.";

/// Opens dialogues from JSON lines, in the form of the policy Dialogue, with any tokenizer.
/// throws    FileError, with file, line and what is expected, for a bad record; FileError for data
///           without an example, or larger than the machine's memory; and what ByteCorpus throws.
///           ArgumentError if there are too few records to hold some out, or a text has a byte
///           without a token; and what marks_of() and ExampleBatches throw
OpenedData open_dialogues(const DataRequest& request, const Tokenizer& tokenizer,
                          ExampleLimits limits, BadRecordRule rule);

/// Opens dialogues for models with an encoder and a decoder, in the form of the policy
/// DialoguePairs. Throws what open_dialogues() and PairedExamples throw.
OpenedData open_dialogue_pairs(const DataRequest& request, const Tokenizer& tokenizer,
                               PairedForm form, BadRecordRule rule);

/// Opens JSON lines with a text in the field `label` and its context in the field `context`, or
/// only a text if that name is empty. Throws what open_dialogues() throws.
OpenedData open_json_lines(const DataRequest& request, std::string_view context,
                           std::string_view label, const Tokenizer& tokenizer, ExampleLimits limits,
                           BadRecordRule rule);

/// Opens tables with a text in the column `label` and its context in the column `context`, or only
/// a text if that name is empty. Blank lines are ignored. Throws what open_dialogues() throws, and
/// FileError if the first line does not have such columns, or a quote is not closed.
OpenedData open_table(const DataRequest& request, const TableColumns& columns,
                      const Tokenizer& tokenizer, ExampleLimits limits, BadRecordRule rule);

/// How conversations become examples.
struct ChatForm {
  int context = 1024;        ///< maximum rows of a conversation
  bool all_tokens = false;   ///< true if all tokens are learnt, not those of replies alone
  bool refuse_long = false;  ///< true if a conversation with more rows is a bad record
};
/// Opens conversations from JSON lines, as `writer` writes them, in the form of ChatSet. Throws
/// what open_dialogues() throws, and FileError if no reply begins within the context.
OpenedData open_chats(const DataRequest& request, const ChatWriter& writer,
                      const Tokenizer& tokenizer, ChatForm form, BadRecordRule rule);
/// Returns the prompt for a reply to `text`: a message of the user, or a JSON object with
/// "messages" or "conversations", the last of which is not the assistant's.
/// throws    ArgumentError for such an object that is no conversation; and what chat_prompt() and
///           require_example_tokenizer() throw, for a policy with this vocabulary
Prompt chat_prompt_of(const Tokenizer& tokenizer, const ChatWriter& writer, int context,
                      int vocabulary, std::string_view text);

/// Opens texts, or pairs if `second` is not empty (whatever `form.pairs` is), each with a label of
/// the columns' kind (whatever the form's is), in the form of LabelledSet. Throws what open_table()
/// and LabelledSet throw, and FileError for a label that is none. A file that begins with "PAR1" is
/// Parquet, whatever the format.
OpenedData open_labelled_text(const DataRequest& request, const LabelledColumns& columns,
                              const Tokenizer& tokenizer, LabelledForm form, BadRecordRule rule);

/// Opens sentences of words with a class each, in the form of LabelledWordSet. Throws what
/// open_dialogues() and LabelledWordSet throw, and FileError for a label that is no class.
OpenedData open_labelled_words(const DataRequest& request, const LabelledWordColumns& columns,
                               const Tokenizer& tokenizer, LabelledWordForm form,
                               BadRecordRule rule);
}  // namespace detail

}  // namespace sinter
