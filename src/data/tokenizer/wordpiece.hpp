// SPDX-License-Identifier: Apache-2.0
// BERT's tokenizer: words, and pieces of words that follow others.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/tokenizer/added_tokens.hpp"
#include "data/tokenizer/normalizer.hpp"
#include "data/tokenizer/split_steps.hpp"
#include "sinter/data/tokenizer/tokenizer.hpp"

namespace sinter::detail {

/// What files say of a WordPiece.
struct WordPieceParts {
  /// Finds texts without a copy of them.
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  using Pieces = std::unordered_map<std::string, std::int32_t, Hash, std::equal_to<>>;

  std::vector<std::string> tokens;  // each id's as it is spelled; empty where an id has none
  Pieces first, following;          // the pieces a word begins with; others, without "##"
  std::int32_t unknown = 0;         // the token of a word that no pieces make
  std::size_t longest_word = 100;   // in characters; longer ones are unknown
  Normalizer normalizer;
  std::vector<SplitStep> text_splits, word_splits;  // before a text is cut into words; of each word
  std::vector<AddedToken> added;
  std::vector<SpecialToken> special;
  std::string joined = "##";  // decoding puts tokens that begin with it to what is before them
  bool cleanup = true;        // decoding takes blanks off before punctuation
};

/// Where BertPreTokenizer cuts: calls word(text) for what lies between white space, and for each
/// punctuation character.
void cut_words(std::string_view text, const std::function<void(std::string_view)>& word);

class WordPiece {
  WordPieceParts parts;
  AddedTokens early, late;        // looked for in the text; in the normalised text
  std::size_t longest_piece = 0;  // in bytes

  void add_word(std::string_view word, std::vector<std::int32_t>& to) const;
  const std::string& spelling(std::int32_t token) const;

 public:
  explicit WordPiece(WordPieceParts all);

  std::vector<std::int32_t> encode(std::string_view text) const;
  /// The text of a token that follows others.
  /// throws    ArgumentError if there is none of this id
  std::string decode(std::int32_t token) const;
  /// The text of a token that nothing is before.
  /// throws    ArgumentError if there is none of this id
  std::string decode_first(std::int32_t token) const;
};

Tokenizer tokenizer_of(WordPieceParts parts);

}  // namespace sinter::detail
