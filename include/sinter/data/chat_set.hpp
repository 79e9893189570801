// SPDX-License-Identifier: Apache-2.0
// Conversations as tokens in memory, of which some are learnt.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sinter/data/chat_format.hpp"
#include "sinter/data/example_list.hpp"
#include "sinter/data/example_marks.hpp"
#include "sinter/data/full_lengths.hpp"
#include "sinter/data/prompt.hpp"

namespace sinter {

namespace detail {
/// A conversation as tokens.
struct ChatTokens {
  std::vector<std::int32_t> ids;
  std::vector<bool> learnt;  ///< one per id: whether the model learns to predict it
  std::int32_t end = -1;     ///< the last id that ends a message and is learnt; -1 if there is none

  /// Number of rows up to the one that predicts the last learnt token of the first `most` ones; 0
  /// if there is none. (The first token is never predicted.)
  std::size_t rows(std::size_t most) const;
};
/// Turns a conversation into tokens. Text between special tokens is encoded as a whole, as by
/// tokenizers: a border between what is learnt and what is not does not divide it. A token across
/// such a border belongs to the part behind it.
/// throws    what marks_of() and the tokenizer throw
ChatTokens chat_tokens(std::span<const ChatPart> parts, const Tokenizer& tokenizer);

/// Returns the prompt for the assistant's next message. It may have up to `context` rows with its
/// reply, and loses its first tokens if it has no room for one token of it.
/// throws    ArgumentError if the format does not have such a conversation; and what chat_tokens()
///           throws
Prompt chat_prompt(const Tokenizer& tokenizer, const ChatWriter& writer, int context,
                   std::span<const ChatMessage> chat);
}  // namespace detail

/// Holds conversations as tokens t1 … tn. Each is one example, of rows that predict the next token
/// if that is learnt:
///   tokens    t1 t2 …  tn-1
///   targets   t2 -1 …  tn       (here t2 and tn are learnt)
/// Tokens behind the last learnt one are left out. A conversation with more rows than the limit
/// loses its last ones. One that has nothing learnt within the limit is a record without an
/// example.
class ChatSet final : public ExampleList {
 public:
  /// Lengths of the examples, and numbers of cuts.
  struct Figures {
    std::int64_t rows = 0;    ///< of all examples, after cutting
    std::int64_t learnt = 0;  ///< predictions of all examples, after cutting
    std::int64_t cut = 0;     ///< examples that were too long
    std::int64_t silent = 0;  ///< records without an example
    int longest = 0;          ///< maximum rows of an example, after cutting
  };

  /// An example has up to `context` rows.
  /// throws    ArgumentError if `context` is below 1; and what marks_of() throws
  ChatSet(Tokenizer tokenizer, int context);

  /// Adds a record.
  /// throws    ArgumentError if there are 2³¹ - 1 records, or if `learnt` is not one per id
  void add(const detail::ChatTokens& tokens);
  /// Reserves memory for `token_count` tokens, so that they are not moved later.
  void reserve(std::size_t token_count) { tokens.reserve(token_count); }

  /// Implements ExampleList; so do the other functions that override.
  std::int64_t size() const override { return std::int64_t(examples.size()); }
  std::int64_t records() const override { return record_count; }
  std::int64_t examples_of(std::int64_t count) const override;
  int inputs() const override { return 2; }
  int max_rows() const override { return context; }
  ExampleLength length(std::int64_t number) const override;
  /// Appends an example to a batch. If it has more than `most` rows, only its last ones.
  void append(HostBatch& batch, std::int64_t number, int most, int padded = 0) const override;
  void append_empty(HostBatch& batch, std::int64_t number, int most, int padded) const override;
  std::vector<SpecialToken> special() const override;
  /// A reply is the last message of the assistant, if only such messages are learnt.
  std::optional<ReplyForm> replies() const override;
  std::uint64_t hash() const override;

  /// All ids are below this: it covers the tokenizer's vocabulary and the marks.
  int vocabulary() const { return marks.vocabulary(tokenizer); }
  /// Lengths and cuts of all examples.
  const Figures& figures() const { return all; }

 private:
  struct Example {
    std::int64_t begin;  // in `tokens`, of rows + 1 tokens
    std::int32_t rows, learnt;
    std::int32_t record;
    std::int32_t is_cut;  // 0 or 1
  };
  Tokenizer tokenizer;
  detail::ExampleMarks marks;
  int context;
  std::vector<std::int32_t> tokens;  // ~id for those that are learnt
  std::vector<Example> examples;
  detail::FullLengths full;
  std::vector<std::int32_t> ends;  // of messages
  std::int64_t record_count = 0;
  Figures all;

  std::span<const std::int32_t> append_rows(HostBatch& batch, std::int64_t number, int most,
                                            int padded) const;
};

}  // namespace sinter
