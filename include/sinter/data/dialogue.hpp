// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/data/data_view.hpp"
#include "sinter/data/example_files.hpp"
#include "sinter/data/next_token.hpp"
#include "sinter/policy/concepts.hpp"

namespace sinter {

struct DialogueOptions {
  int text = 256;   ///< maximum tokens of what is replied to; older ones are cut off
  int label = 256;  ///< maximum tokens of a reply, including its end; later ones are cut off
  int history = 0;  ///< maximum number of turns that are replied to, the newest; 0 for all
  /// size of --tokenizer's vocabulary, including its marks (marks_of); by default that of bytes
  int vocabulary = byte_example_vocabulary;
  BadRecords bad = fail;  ///< what is done with a dialogue that cannot be read
  int bad_limit = 100;    ///< maximum number of bad dialogues that `skip` leaves out
  SINTER_FIELDS((text).at_least(1).at_most(1 << 24), (label).at_least(1).at_most(1 << 24),
                (history).at_least(0).adjustable(), (vocabulary).at_least(1), (bad),
                (bad_limit).at_least(0).adjustable())
};

/// Dialogues, whose replies are learnt. Files are JSON lines, one object per line, with the turns
/// in order; other fields are ignored:
///   {"id": "1", "turns": [["USER", "Any news?"], ["SYSTEM", "None."], …]}
/// Every turn but the first is an example, whose context is the turns before it (ParlAI's default:
/// the whole history, cut from the left). Texts are bytes, or with another vocabulary the tokens of
/// --tokenizer; ExampleSet describes how they are cut. The last dialogues are held out. A policy of
/// the slot batching makes batches of the replies.
template <DialogueOptions O = {}>
struct Dialogue {
  using slot = slot::data;
  using model_rules = detail::NextTokenRules;
  using Options = DialogueOptions;
  static constexpr Options options = O;
  static constexpr int context = O.text + O.label, vocabulary = O.vocabulary;
  static constexpr bool takes_tokenizer = true;
  static constexpr bool has_examples = true;  ///< policies of the slot batching act on them
  static constexpr bool has_replies = true;   ///< Evaluate writes some

  static constexpr std::string_view paths_help = detail::dialogue_paths_help;
  static OpenedData open(const Options& o, const DataRequest& request) {
    return detail::open_dialogues(request,
                                  detail::example_tokenizer(request.tokenizer, o.vocabulary),
                                  {o.text, o.label, o.history}, {o.bad, o.bad_limit});
  }
  static Tokenizer tokenizer() { return byte_tokenizer(); }
  /// The lines of `text` are the turns that are replied to.
  static Prompt prompt(const Options& o, const Tokenizer& tokenizer, std::string_view text) {
    detail::require_example_tokenizer(tokenizer, o.vocabulary);
    return detail::reply_prompt(tokenizer, {o.text, o.label, o.history},
                                detail::turns_of_lines(text));
  }
};

}  // namespace sinter
