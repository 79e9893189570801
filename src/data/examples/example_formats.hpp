// SPDX-License-Identifier: Apache-2.0
// How records of examples are written in files.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "sinter/base/label_kind.hpp"
#include "sinter/data/chat_format.hpp"
#include "sinter/data/examples.hpp"
#include "sinter/hardware/available.hpp"

namespace sinter::detail {

/// A record is not what it must be. what() says what is wrong, without a full stop.
struct BadRecord : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A file is not what it must be, whatever its records are. what() says what is wrong, likewise.
struct BadFile : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The texts of a record.
struct ExampleTexts {
  std::vector<std::string> turns;       ///< of a dialogue, or a context and its label; or one text
  bool alone = false;                   ///< it is one text, which is an example by itself
  std::int32_t label = -1;              ///< the class of a labelled text; its texts are `turns`
  std::vector<float> numbers{};         ///< of its label, where that is no single class
  std::vector<std::int32_t> classes{};  ///< of words, which are `turns`; below zero without one
  std::vector<ChatPart> chat{};         ///< a conversation as it is written, instead of `turns`
  int longest = 0;  ///< a conversation of more rows is a bad record; 0 for any number
  /// What of the record is not read though it has a meaning, as notes say it.
  std::vector<std::string_view> passed_over{};
  bool last_alone = false;  ///< of `turns` the last alone is a reply

  /// Adds an example, or several, to a set. It is not of labelled texts.
  void add_to(ExampleSet& set) const {
    return alone ? set.add_text(turns.front()) : set.add_dialogue(turns);
  }
};

/// Reads the texts of a record. It may be called in any thread, as long as the file's text is there.
/// throws    BadRecord
using ReadTexts = std::function<ExampleTexts()>;
/// Is called with each record of a file: its number from 1, as a rule the line on which it begins,
/// and what reads it.
using OnRecord = std::function<void(std::int64_t number, ReadTexts read)>;

/// A way to write examples in a file.
struct ExampleFormat {
  std::string_view one, many;  ///< what a record is called, and several of them
  std::string expected;        ///< what a record must be, in a sentence
  std::function<void(std::string_view file, const OnRecord&)> read;  ///< goes through a file
  std::string_view numbered = "line";                      ///< what records' numbers count
  std::shared_ptr<const ExampleFormat> parquet = nullptr;  ///< of its files that are Parquet
};

/// Dialogues; see the policy Dialogue.
ExampleFormat dialogue_format();
/// Dialogues, and conversations as Chat reads them, of which the assistant's last message is a reply to
/// all before it, or to so many messages before it; see the policy DialoguePairs.
ExampleFormat dialogue_pairs_format(int history);
/// Which columns of a table are read.
struct TableFormat {
  std::string context, label;  ///< names, or numbers from 1; without a context, texts alone
  char separator;              ///< of fields: a tab in TSV, a comma or a semicolon in CSV
  bool header;                 ///< whether the first line names the columns
};
/// The place of a column, from 0, that `header` names; without a header names are numbers from 1.
/// throws    BadFile, where `source`, which has the header, does not name it exactly once
std::size_t column_of(const std::string& name, const std::vector<std::string>* header,
                      std::string_view source);
/// Tables; see the policy Columns. Reading throws BadFile where the first line does not have the
/// columns, or a quote is not closed. Files that are Parquet have parquet_format().
ExampleFormat table_format(const TableFormat& format);

/// Whether a file begins as those of Parquet do.
bool is_parquet(std::string_view file);
/// How a Parquet file becomes JSON lines, in sentences for people.
inline constexpr std::string_view parquet_as_lines =
    "Where Python has pyarrow, this writes its rows as JSON lines: python3 -c \"import json, sys, "
    "pyarrow.parquet as p; [print(json.dumps(row)) for row in "
    "p.read_table(sys.argv[1]).to_pylist()]\" FILE > FILE.jsonl.";
/// Whether this build has Arrow.
bool reads_parquet();
/// Which columns of a Parquet file are read.
struct ParquetColumns {
  /// What a column holds beside texts. Numbers become texts.
  enum class Numbers { none, whole, any };

  std::vector<std::string> names;  ///< or numbers from 1
  bool header;                     ///< whether they are names
  Numbers numbers;                 ///< of the last column
  std::function<ExampleTexts(std::vector<std::string> fields)> of_fields;  ///< of these columns
};
/// Columns of a Parquet file; see parquet_format() of a table. `expected` says what they must be.
ExampleFormat parquet_format(ParquetColumns columns, std::string expected,
                             std::optional<AvailableMemory> memory = {});
/// The same columns of a Parquet file, with its rows numbered from 1. `separator` is nothing to it.
/// Reading throws BadFile where the file is damaged, does not have such columns or has them with
/// another type, or where this build has no Arrow, or where the texts' tokens, or a page of the file,
/// would not fit into `memory` (available_memory() without it). At any time a few thousand rows are
/// decoded.
ExampleFormat parquet_format(const TableFormat& format, std::optional<AvailableMemory> memory = {});
/// Objects with named fields; see the policy JsonLines.
ExampleFormat json_lines_format(std::string_view context, std::string_view label);

/// Which fields of a record are a labelled text; see the policy LabelledText.
struct LabelledFields {
  std::vector<std::string> texts;    ///< one or two
  std::string label;                 ///< a whole number, or one of `names`; or as `kind` says
  int classes;                       ///< numbers are below it; or how many numbers a label has
  std::vector<std::string> names{};  ///< of the classes, in their order; empty if they have none
  LabelKind kind = LabelKind::one_class;  ///< what a label says

  /// The number of the class that a label names.
  /// throws    BadRecord if none has that name
  std::int32_t class_named(std::string_view text) const;
  /// What the label's field must hold, in words.
  std::string expected() const;
  /// Why a label is none, in words. `shown` is what it is.
  BadRecord refusal(std::string_view shown) const;
};
/// Objects with these fields, also as rows of Parquet.
ExampleFormat labelled_lines_format(const LabelledFields& fields);
/// Tables with these columns, which are numbers from 1 without a `header`. Reading throws BadFile as
/// that of table_format() does. Parquet may have labels that are numbers.
ExampleFormat labelled_table_format(const LabelledFields& fields, char separator, bool header);

/// Objects with lists of words and of their classes: the only text and the label of the fields. Rows of
/// Parquet have such lists, too.
ExampleFormat labelled_words_format(const LabelledFields& fields);
/// Lines of columns, which are numbers from 1, with a word on each line and a blank line behind each
/// sentence, as in the files of CoNLL. Lines that begin with -DOCSTART- are left out.
/// throws    FileError if a column's name is no such number
ExampleFormat word_columns_format(const LabelledFields& fields);

}  // namespace sinter::detail
