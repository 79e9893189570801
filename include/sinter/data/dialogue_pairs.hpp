// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/data/data_view.hpp"
#include "sinter/data/example_files.hpp"
#include "sinter/data/next_token.hpp"
#include "sinter/data/paired_tokens.hpp"
#include "sinter/policy/concepts.hpp"

namespace sinter {

struct DialoguePairsOptions {
  /// maximum tokens of what is replied to, including their end (never cut); older ones are cut off
  int text = 256;
  int label = 256;  ///< maximum tokens of a reply, including its end; later ones are cut off
  int history = 0;  ///< maximum number of turns that are replied to, the newest; 0 for all
  /// size of --tokenizer's vocabulary, including its marks (marks_of); by default that of bytes
  int vocabulary = byte_example_vocabulary;
  /// The id that begins a reply if it is not the mark `start` (marks_of), as in checkpoints whose
  /// replies begin with <pad>; -1 for the mark.
  int start = -1;
  BadRecords bad = fail;  ///< what is done with a dialogue that cannot be read
  int bad_limit = 100;    ///< maximum number of bad dialogues that `skip` leaves out
  SINTER_FIELDS((text).at_least(2).at_most(1 << 24), (label).at_least(1).at_most(1 << 24),
                (history).at_least(0).adjustable(), (vocabulary).at_least(1), (start).at_least(-1),
                (bad), (bad_limit).at_least(0).adjustable())
};

namespace detail {
template <DialoguePairsOptions O>
SINTER_RULE(StartIsInTheVocabulary, O.start < O.vocabulary,
            "DialoguePairs: .start is not in the vocabulary. Why: each reply begins with this id, "
            "which the model looks up. Fix: an id below .vocabulary, such as that of <pad>, or -1 "
            "for the mark that the tokenizer has.");
}  // namespace detail

/// Dialogues, whose replies are learnt by a model with an encoder and a decoder, from files as for
/// Dialogue. Every turn but the first is an example: the encoder reads the turns before it, and their
/// end, on axis 1; the decoder writes it on axis 0. Records as for Chat are read, too: of each the
/// assistant's last message is the example, and the messages before it are the turns. PairedExamples describes a batch. Texts are
/// bytes, or with another vocabulary the tokens of --tokenizer. The last dialogues are held out. A
/// policy of the slot batching makes batches. If it pads, it pads both sequences of the examples of a
/// micro-batch, each to the longest of its own axis, and no row attends to padding.
template <DialoguePairsOptions O = {}>
struct DialoguePairs {
  using slot = slot::data;
  using rules = RuleList<detail::StartIsInTheVocabulary<O>>;
  using model_rules = RuleList<detail::PairsAreTaken, detail::RepliesArePredicted,
                               detail::NextTokenIsUnseen, detail::PaddingIsSkipped>;
  using Options = DialoguePairsOptions;
  static constexpr Options options = O;
  static constexpr int context = O.label, second_context = O.text, vocabulary = O.vocabulary;
  static constexpr bool takes_tokenizer = true;
  static constexpr bool has_examples = true;  ///< policies of the slot batching act on them
  static constexpr bool has_replies = true;   ///< Evaluate writes some

  static constexpr std::string_view paths_help = detail::dialogue_paths_help;
  static OpenedData open(const Options& o, const DataRequest& request) {
    return detail::open_dialogue_pairs(request,
                                       detail::example_tokenizer(request.tokenizer, o.vocabulary),
                                       form(o), {o.bad, o.bad_limit});
  }
  static Tokenizer tokenizer() { return byte_tokenizer(); }
  /// The lines of `text` are the turns that are replied to.
  static Prompt prompt(const Options& o, const Tokenizer& tokenizer, std::string_view text) {
    detail::require_example_tokenizer(tokenizer, o.vocabulary);
    return detail::paired_prompt(tokenizer, form(o), detail::turns_of_lines(text));
  }

 private:
  static PairedForm form(const Options& o) { return {o.text, o.label, o.history, o.start}; }
};

}  // namespace sinter
