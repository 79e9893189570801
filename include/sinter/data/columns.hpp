// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/data/json_lines.hpp"
#include "sinter/data/next_token.hpp"

namespace sinter {

struct ColumnsOptions {
  Separator separator = Separator::tab;  ///< separator of the fields of a row
  bool header = true;  ///< true if the first line names the columns; else they have numbers from 1
  int text = 256;      ///< maximum tokens of a context; its first ones are cut off
  int label = 256;     ///< maximum tokens of a label, including its end; its last are cut off
  /// size of --tokenizer's vocabulary, including its marks (marks_of); by default that of bytes
  int vocabulary = byte_example_vocabulary;
  BadRecords bad = fail;  ///< what is done with a row that cannot be read
  int bad_limit = 100;    ///< maximum number of bad rows that `skip` leaves out
  SINTER_FIELDS((separator), (header), (text).at_least(1).at_most(1 << 24),
                (label).at_least(1).at_most(1 << 24), (vocabulary).at_least(1), (bad),
                (bad_limit).at_least(0).adjustable())
};

/// Examples from tables, TSV or CSV. Columns<"question", "answer"> learns the text in the column
/// "answer" from that in "question"; Columns<"1", "2", {.header = false}> the second column from
/// the first. If the first name is empty, examples are texts without a context, of up to text +
/// label tokens. Texts are bytes, or with another vocabulary the tokens of --tokenizer; ExampleSet
/// describes how they are cut. The last rows are held out. A policy of the slot batching makes
/// batches of the examples. A file that begins with "PAR1" is Parquet, whatever the separator, and
/// is read if the library was built with Apache Arrow; its columns must be strings.
template <detail::Text Context, detail::Text Label, ColumnsOptions O = {}>
struct Columns {
  using slot = slot::data;
  using Options = ColumnsOptions;
  using rules = RuleList<detail::LabelHasAName<Label>>;
  using model_rules = detail::NextTokenRules;
  static constexpr Options options = O;
  static constexpr int context = O.text + O.label, vocabulary = O.vocabulary;
  static constexpr bool takes_tokenizer = true;
  static constexpr bool has_examples = true;  ///< policies of the slot batching act on them
  static constexpr bool has_replies = true;   ///< Evaluate writes some

  static constexpr std::string_view paths_help =
      "Files and folders of tables, TSV or CSV as the recipe says, or\n"
      "Parquet. A folder stands for all files below it, sorted by path.";
  /// The names of the columns.
  static std::string text() { return JsonLines<Context, Label>::text(); }
  static OpenedData open(const Options& o, const DataRequest& request) {
    return detail::open_table(request, {Context.text, Label.text, o.separator, o.header},
                              detail::example_tokenizer(request.tokenizer, o.vocabulary),
                              {o.text, o.label}, {o.bad, o.bad_limit});
  }
  static Tokenizer tokenizer() { return byte_tokenizer(); }
  /// `text` is a context, or the beginning of a text without one.
  static Prompt prompt(const Options& o, const Tokenizer& tokenizer, std::string_view text) {
    return detail::pair_prompt(tokenizer, o.vocabulary, {o.text, o.label}, text,
                               Context.text[0] == 0);
  }
};

}  // namespace sinter
