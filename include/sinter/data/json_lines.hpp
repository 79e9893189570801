// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/base/text.hpp"
#include "sinter/data/data_view.hpp"
#include "sinter/data/example_files.hpp"
#include "sinter/data/next_token.hpp"
#include "sinter/policy/concepts.hpp"

namespace sinter {

struct JsonLinesOptions {
  int text = 256;   ///< maximum tokens of a context; its first ones are cut off
  int label = 256;  ///< maximum tokens of a label, including its end; its last are cut off
  /// size of --tokenizer's vocabulary, including its marks (marks_of); by default that of bytes
  int vocabulary = byte_example_vocabulary;
  BadRecords bad = fail;  ///< what is done with a line that cannot be read
  int bad_limit = 100;    ///< maximum number of bad lines that `skip` leaves out
  SINTER_FIELDS((text).at_least(1).at_most(1 << 24), (label).at_least(1).at_most(1 << 24),
                (vocabulary).at_least(1), (bad), (bad_limit).at_least(0).adjustable())
};

namespace detail {
template <Text Label>
SINTER_RULE(LabelHasAName, Label.text[0] != 0,
            "JsonLines: the second name, that of the field to learn, is empty. Why: without it "
            "nothing is predicted. Fix: name the field, as in JsonLines<\"\", \"text\">.");
}  // namespace detail

/// Examples from JSON lines, one object per line. JsonLines<"question", "answer"> learns the text
/// in the field "answer" from that in "question"; other fields are ignored. If the first name is
/// empty, as in JsonLines<"", "text">, examples are texts without context, of up to text + label
/// tokens. Texts are bytes, or with another vocabulary the tokens of --tokenizer; ExampleSet cuts
/// them. The last lines are held out. A policy of the slot batching makes batches of the examples.
template <detail::Text Context, detail::Text Label, JsonLinesOptions O = {}>
struct JsonLines {
  using slot = slot::data;
  using Options = JsonLinesOptions;
  using rules = RuleList<detail::LabelHasAName<Label>>;
  using model_rules = detail::NextTokenRules;
  static constexpr Options options = O;
  static constexpr int context = O.text + O.label, vocabulary = O.vocabulary;
  static constexpr bool takes_tokenizer = true;
  static constexpr bool has_examples = true;  ///< policies of the slot batching act on them
  static constexpr bool has_replies = true;   ///< Evaluate writes some

  static constexpr std::string_view paths_help =
      "Files and folders of JSON lines, an object with the fields of an\n"
      "example a line. A folder stands for all files below it, sorted\n"
      "by path.";
  /// The names of the fields.
  static std::string text() {
    return std::string(Context.text) + (Context.text[0] ? ", " : "") + Label.text;
  }
  static OpenedData open(const Options& o, const DataRequest& request) {
    return detail::open_json_lines(request, Context.text, Label.text,
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
