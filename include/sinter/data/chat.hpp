// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/base/type_name.hpp"
#include "sinter/data/chat_formats.hpp"
#include "sinter/data/data_view.hpp"
#include "sinter/data/example_files.hpp"
#include "sinter/data/next_token.hpp"
#include "sinter/policy/concepts.hpp"

namespace sinter {

struct ChatOptions {
  int context = 1024;  ///< maximum tokens of a conversation, as rows of the model
  /// size of --tokenizer's vocabulary, including its marks (marks_of); by default that of bytes
  int vocabulary = byte_example_vocabulary;
  bool all_tokens = false;  ///< true if all tokens are learnt, not those of the assistant alone
  /// true if a conversation that is too long is a bad record; else its last tokens are cut off
  bool refuse_long = false;
  BadRecords bad = fail;  ///< what is done with a conversation that cannot be read
  int bad_limit = 100;    ///< maximum number of bad conversations that `skip` leaves out
  SINTER_FIELDS((context).at_least(1).at_most(1 << 24), (vocabulary).at_least(1), (all_tokens),
                (refuse_long), (bad), (bad_limit).at_least(0).adjustable())
};

namespace detail {
template <class Format>
SINTER_RULE(ChatHasAFormat, ChatFormat<Format>,
            "Chat: the type before its options is no format of conversations. Why: a format is an "
            "empty type with write(chat, text), and perhaps problem(chat), both static; ChatFormat "
            "in sinter/data/chat_format.hpp says their forms. Fix: name ChatMl, Llama2Chat, "
            "Llama3Chat, Alpaca or PlainChat, or correct the member that is missing or has another "
            "form.");
}  // namespace detail

/// Conversations, whose replies are learnt. Files are JSON lines, one object per line, or Parquet with
/// these columns. Other fields are not read, and those that would change what is learnt, such as
/// "weight", are said once:
///   {"messages": [{"role": "user", "content": "Any news?"}, {"role": "assistant", …}, …]}
///   {"conversations": [{"from": "human", "value": "Any news?"}, {"from": "gpt", …}, …]}
///   {"instruction": "Translate.", "input": "Guten Tag", "output": "Good day"}
/// Format writes a conversation as a text, such as ChatMl; each is one example. The tokens of the
/// assistant's messages and of their ends are predicted, each from all that stands before it. Texts
/// are bytes, or with another vocabulary the tokens of --tokenizer; ChatSet describes how they are
/// cut. The last conversations are held out. A policy of the slot batching makes batches of them.
template <class Format, ChatOptions O = {}>
struct Chat {
  using slot = slot::data;
  using Options = ChatOptions;
  using rules = RuleList<detail::ChatHasAFormat<Format>>;
  using model_rules = detail::NextTokenRules;
  static constexpr Options options = O;
  static constexpr int context = O.context, vocabulary = O.vocabulary;
  static constexpr bool takes_tokenizer = true;
  static constexpr bool has_examples = true;  ///< policies of the slot batching act on them
  /// Evaluate writes the last reply of each conversation, where replies alone are learnt.
  static constexpr bool has_replies = !O.all_tokens;

  static constexpr std::string_view paths_help =
      "Files and folders of conversations, as JSON lines or Parquet, with\n"
      "\"messages\", \"conversations\" or \"instruction\" and \"output\".\n"
      "A folder stands for all files below it, sorted by path.";
  /// The name of the format.
  static std::string text() { return detail::short_type_name<Format>(); }
  static OpenedData open(const Options& o, const DataRequest& request) {
    return detail::open_chats(request, writer(),
                              detail::example_tokenizer(request.tokenizer, o.vocabulary),
                              {o.context, o.all_tokens, o.refuse_long}, {o.bad, o.bad_limit});
  }
  static Tokenizer tokenizer() { return byte_tokenizer(); }
  /// `text` is a message of the user, or a conversation as a JSON object with "messages".
  static Prompt prompt(const Options& o, const Tokenizer& tokenizer, std::string_view text) {
    return detail::chat_prompt_of(tokenizer, writer(), o.context, o.vocabulary, text);
  }

 private:
  static constexpr detail::ChatWriter writer() {
    if constexpr (ChatFormat<Format>) return detail::chat_writer_of<Format>();
    return {};
  }
};

}  // namespace sinter
