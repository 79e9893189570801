// SPDX-License-Identifier: Apache-2.0
// Turns text into the numbers that a model reads, and back.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sinter {

/// A token that does not represent text, but marks something, such as a text's end.
struct SpecialToken {
  std::string name;     ///< as in the tokenizer's file, such as "<|endoftext|>"
  std::int32_t id = 0;  ///< its token number
};

/// A tokenizer without its type, as data policies offer it and `generate` uses it. Any number of
/// threads may use one at the same time.
struct Tokenizer {
  /// Returns the tokens of a text, each at least 0 and below the policy's vocabulary. Adds no
  /// special tokens.
  /// throws    ArgumentError that names the part of the text without a token
  std::function<std::vector<std::int32_t>(std::string_view text)> encode;
  /// Returns the text of one token, to follow the text of those before it. It may be a part of a
  /// character's UTF-8.
  /// throws    ArgumentError if there is no such token, as far as the tokenizer knows
  std::function<std::string(std::int32_t token)> decode;
  /// Returns the text of a token that is the first, if that may differ from decode()'s: BERT's
  /// words have a blank before them only after others. Empty if it never differs.
  std::function<std::string(std::int32_t token)> decode_first{};
  /// All tokens are below this; 0 if the tokenizer does not state it.
  std::int32_t vocabulary = 0;
  /// Text that encode() puts before a text; text_of() removes it.
  std::string lead{};
  /// The special tokens in the tokenizer's files.
  std::vector<SpecialToken> special{};
  /// True if a text may be cut after a newline between two characters that are no white space: the
  /// tokens of both parts are then those of the whole.
  bool cuts_at_lines = false;
  /// Distinguishes it from other tokenizers: for those from files, a hash of what was read.
  std::string identity{};
  /// Special tokens that the tokenizer's files put before and behind a text, such as the BOS of
  /// Llama, <s>. encode() gives none of them; encode_whole() does.
  std::vector<std::int32_t> before{}, behind{};

  /// Returns the tokens of a whole text: `before`, those of encode(), and `behind`.
  /// throws    what encode() throws
  std::vector<std::int32_t> encode_whole(std::string_view text) const;
  /// Returns the text of all of these tokens.
  /// throws    what decode() throws
  std::string text_of(std::span<const std::int32_t> tokens) const;
};

/// Returns a tokenizer whose tokens are bytes; the vocabulary is 256.
Tokenizer byte_tokenizer();

/// Reads a tokenizer. encode() takes any bytes; a BPE from tokenizer.json or GPT-2's files also
/// keeps bytes that are no UTF-8. docs/tokenizers.md lists what is understood of tokenizer.json,
/// and of the files beside a vocabulary, such as tokenizer_config.json. `path` is one of these
/// files, or a folder that has one: - a tokenizer.json of Hugging Face's tokenizers, with a BPE or
/// a WordPiece
/// - GPT-2's files: encoder.json and vocab.bpe, or vocab.json and merges.txt; the path of encoder.json
/// or vocab.json itself reads the two as GPT-2's, whatever other files there say
/// - BERT's vocab.txt
/// - a SentencePiece *.model (in folders tokenizer.model or spiece.model), if built with its
/// library
/// throws    FileError that names the file, and what in it is damaged or not understood
Tokenizer load_tokenizer(const std::filesystem::path& path);

namespace detail {
/// True if a folder has a file by a name that load_tokenizer() looks for in folders.
bool holds_tokenizer(const std::filesystem::path& folder);
}  // namespace detail

}  // namespace sinter
