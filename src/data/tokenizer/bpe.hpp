// SPDX-License-Identifier: Apache-2.0
// A tokenizer by byte-pair encoding, over bytes (GPT-2, Llama 3, Qwen2) or over characters with bytes
// for those that it has no token of (Llama 2, Mistral).
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/tokenizer/added_tokens.hpp"
#include "data/tokenizer/merges.hpp"
#include "data/tokenizer/normalizer.hpp"
#include "data/tokenizer/piece_cache.hpp"
#include "data/tokenizer/split.hpp"
#include "data/tokenizer/split_steps.hpp"
#include "data/tokenizer/surroundings.hpp"
#include "sinter/data/tokenizer/tokenizer.hpp"

namespace sinter::detail {

/// What a text gets in front of it: a blank; none if it has one already; only where the whole text
/// begins.
enum class Prefix { none, always, unless_there, at_begin_unless_there };

/// What files say of a BPE.
struct BpeParts {
  std::vector<std::string> tokens;  // the bytes of each id; empty where an id has none
  std::vector<Merge> merges;
  /// The token of each byte, -1 where there is none. Over characters: what stands for the byte.
  std::array<std::int32_t, 256> of_byte{};
  /// Over characters, the token of each code point that has one.
  std::unordered_map<std::uint32_t, std::int32_t> of_character;
  bool over_characters = false;  // and blanks are written as ▁
  /// Pieces that are tokens whatever the merges make of them (ignore_merges).
  std::unordered_map<std::string, std::int32_t> whole;
  std::vector<SplitStep> splits;    // what they leave of a text is cut
  Pattern pattern = Pattern::none;  // by this
  Normalizer normalizer;            // before anything is done about blanks
  Prefix prefix = Prefix::none;
  bool blanks_before_added = false;  // blanks are dealt with before `normalized` added tokens
  bool strips_first_blank = false;   // decoding takes a blank off the beginning
  std::vector<AddedToken> added;
  std::vector<SpecialToken> special;
  Surroundings around;  // special tokens around a text, which encode() does not give
};

class Bpe {
  class Encoding;
  BpeParts parts;
  Merges merges;
  AddedTokens early, late;                   // looked for in the text; in the normalised text
  std::array<std::int32_t, 128> of_ascii{};  // of_character, -1 where it has none

  // Those that no encode() is using. Each has one to itself, so that any number of threads encode.
  mutable std::mutex mutex;
  mutable std::vector<std::unique_ptr<PieceCache>> idle;

 public:
  explicit Bpe(BpeParts all);

  /// throws    ArgumentError if a byte has no token
  std::vector<std::int32_t> encode(std::string_view text) const;
  /// The bytes of a token.
  /// throws    ArgumentError if there is none of this id
  const std::string& decode(std::int32_t token) const;
};

Tokenizer tokenizer_of(BpeParts parts);

}  // namespace sinter::detail
