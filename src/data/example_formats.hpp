// SPDX-License-Identifier: Apache-2.0
// How records of examples are written in files.
#pragma once
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "sinter/data/examples.hpp"

namespace sinter {

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
  std::vector<std::string> turns;  ///< of a dialogue, or a context and its label; or one text
  bool alone = false;              ///< it is one text, which is an example by itself

  /// Adds an example, or several, to a set.
  void add_to(ExampleSet& set) const {
    return alone ? set.add_text(turns.front()) : set.add_dialogue(turns);
  }
};

/// Reads the texts of a record. It may be called in any thread, as long as the file's text is there.
/// throws    BadRecord
using ReadTexts = std::function<ExampleTexts()>;
/// Is called with each record of a file: the line on which it begins, from 1, and what reads it.
using OnRecord = std::function<void(std::int64_t line, ReadTexts read)>;

/// A way to write examples in a file.
struct ExampleFormat {
  std::string_view one, many;  ///< what a record is called, and several of them
  std::string expected;        ///< what a record must be, in a sentence
  std::function<void(std::string_view file, const OnRecord&)> read;  ///< goes through a file
};

/// Dialogues; see the policy Dialogue.
ExampleFormat dialogue_format();
/// Which columns of a table are read.
struct TableFormat {
  std::string context, label;  ///< names, or numbers from 1; without a context, texts alone
  bool commas, header;         ///< CSV, else TSV; whether the first line names the columns
};
/// Tables; see the policy Columns. Reading throws BadFile where the first line does not have the
/// columns, or a quote is not closed.
ExampleFormat table_format(const TableFormat& format);
/// Objects with named fields; see the policy JsonLines.
ExampleFormat json_lines_format(std::string_view context, std::string_view label);

}  // namespace sinter
