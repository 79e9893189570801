// SPDX-License-Identifier: Apache-2.0
// The tokens of a tokenizer as its files write them.
#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/tokenizer/merges.hpp"

namespace sinter::detail {

/// A tokenizer's file is not what it must be. what() says why in a sentence without its end, and may
/// go on with what to do.
struct TokenizerProblem : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A token as a message shows it.
std::string shown(std::string_view token);

/// The text of a token; `texts` are by id, and empty where there is no token.
/// throws    ArgumentError if there is no such token
const std::string& text_of_token(const std::vector<std::string>& texts, std::int32_t token);

/// Spellings and ids of tokens, each of which is there once.
class Vocabulary {
  std::unordered_map<std::string, std::int32_t> ids;
  std::vector<std::string> spellings;  // by id; empty where there is none

 public:
  static constexpr std::int32_t largest_id = (1 << 24) - 1;

  /// Reads an object of spellings and ids. `where` names it in messages.
  /// throws    TokenizerProblem, JsonError
  Vocabulary(const nlohmann::json& object, std::string_view where);

  /// Adds a token. It may be there, with the same id.
  /// throws    TokenizerProblem
  void add(const std::string& spelling, std::int32_t id);
  std::optional<std::int32_t> find(const std::string& spelling) const;
  const std::unordered_map<std::string, std::int32_t>& all() const { return ids; }
  /// One more than the largest id.
  std::size_t size() const { return spellings.size(); }

  /// The merge of two tokens. `where` names it in messages, such as "line 7 of vocab.bpe".
  /// throws    TokenizerProblem if it names a token that there is not
  Merge merge(const std::string& left, const std::string& right, std::string_view where) const;
  /// The same of a line that has them with a blank between.
  Merge merge(std::string_view line, std::string_view where) const;
};

/// throws    TokenizerProblem if a pair comes twice
void require_different(const std::vector<Merge>& merges);

/// The bytes that GPT-2's spelling stands for, in which each byte is a letter that can be seen;
/// nothing if it is not such a spelling.
std::optional<std::string> bytes_of_spelling(std::string_view spelling);
/// The other way round.
std::string spelling_of_bytes(std::string_view bytes);

}  // namespace sinter::detail
