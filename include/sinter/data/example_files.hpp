// SPDX-License-Identifier: Apache-2.0
// Opens files of examples for the verbs of a binary.
#pragma once
#include <cstdint>
#include <string_view>

#include "sinter/data/data_view.hpp"
#include "sinter/data/examples.hpp"
#include "sinter/data/labelled_set.hpp"
#include "sinter/data/paired_examples.hpp"

namespace sinter {

/// What is done with a record that cannot be read.
enum BadRecords : std::uint8_t {
  fail,  // nothing is opened: an error names the file and the line
  skip   // it is left out, and the user is told how many were
};
/// The name of a choice, as options print it.
constexpr std::string_view name_of(BadRecords bad) { return bad == fail ? "fail" : "skip"; }

/// How bad records are dealt with.
struct BadRecordRule {
  BadRecords bad = fail;  ///< what is done with them
  int limit = 100;        ///< records that `skip` leaves out at most; one more is an error
};

/// What --data takes where it is dialogues.
inline constexpr std::string_view dialogue_paths_help =
    "Files and folders of dialogues, as JSON lines: objects with\n"
    "\"turns\", a list of [speaker, text]. A folder stands for all\n"
    "files below it, sorted by path.";

/// Opens dialogues from JSON lines, as the policy Dialogue has them, with any tokenizer.
/// throws    FileError that names the file, the line and what is expected, for a record that is
///           bad; for data that hold no example, or more than the machine has memory; and what
///           ByteCorpus throws. ArgumentError if too few records are there to hold some out, or a
///           text has a byte for which there is no token; and what marks_of() and ExampleBatches
///           throw
OpenedData open_dialogues(const DataRequest& request, const Tokenizer& tokenizer,
                          ExampleLimits limits, BadRecordRule rule);

/// The same for models with an encoder and a decoder, as the policy DialoguePairs has them. It throws
/// what PairedExamples throws, too.
OpenedData open_dialogue_pairs(const DataRequest& request, const Tokenizer& tokenizer,
                               PairedForm form, BadRecordRule rule);

/// Opens JSON lines with a text in the field `label`, and its context in the field `context`, or
/// with a text alone if that name is empty. It throws what open_dialogues() does.
OpenedData open_json_lines(const DataRequest& request, std::string_view context,
                           std::string_view label, const Tokenizer& tokenizer, ExampleLimits limits,
                           BadRecordRule rule);

/// What stands between the fields of a table.
enum class Separator : std::uint8_t {
  tab,   // TSV: fields are as they stand, without quotes (IANA's text/tab-separated-values)
  comma  // CSV: a field may be in quotes, and then hold commas, line breaks and "" (RFC 4180)
};
/// The name of a separator, as options print it.
constexpr std::string_view name_of(Separator s) { return s == Separator::tab ? "tab" : "comma"; }

/// Which columns of a table are examples.
struct TableColumns {
  std::string_view context, label;       ///< names, or numbers from 1; the first may be empty
  Separator separator = Separator::tab;  ///< what stands between fields
  bool header = true;  ///< the first line names the columns; else they have numbers
};

/// Opens tables with a text in the column `label`, and its context in the column `context`, or with
/// a text alone if that name is empty. Blank lines are nothing. Beside what open_dialogues()
/// throws, it throws FileError if the first line does not have such columns, or a quote is not
/// closed.
OpenedData open_table(const DataRequest& request, const TableColumns& columns,
                      const Tokenizer& tokenizer, ExampleLimits limits, BadRecordRule rule);

/// How records of texts are written.
enum class TextFormat : std::uint8_t {
  tsv,        // tables, as Separator::tab
  csv,        // tables, as Separator::comma
  json_lines  // an object a line
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
  }
  return "";
}

/// Which fields or columns are labelled texts.
struct LabelledColumns {
  std::string_view label, first, second;  ///< names, or numbers from 1; the last may be empty
  int classes = 2;                        ///< labels are whole numbers below it
  TextFormat format = TextFormat::tsv;    ///< how they are written
  bool header = true;  ///< of tables: the first line names the columns; else they have numbers
};

/// Opens texts, or pairs of them if `second` is not empty (whatever `form.pairs` says), each with a
/// class, as LabelledSet has them. It throws what open_table() throws, also for a label that is no
/// class and for Parquet, and what LabelledSet throws.
OpenedData open_labelled_text(const DataRequest& request, const LabelledColumns& columns,
                              const Tokenizer& tokenizer, LabelledForm form, BadRecordRule rule);

}  // namespace sinter
