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

/// A token that stands for no text, but for something about it, such as its end.
struct SpecialToken {
  std::string name;     ///< as its file writes it, such as "<|endoftext|>"
  std::int32_t id = 0;  ///< its number
};

/// A tokenizer without its type, as data policies offer it and `generate` uses it. Any number of
/// threads may use one at a time.
struct Tokenizer {
  /// Gives the tokens of a text, each at least 0 and below the policy's vocabulary. It adds no
  /// special tokens.
  /// throws    ArgumentError that names what no token stands for
  std::function<std::vector<std::int32_t>(std::string_view text)> encode;
  /// Gives the text of one token, which follows the text of those before it. It may be a part of a
  /// character's UTF-8.
  /// throws    ArgumentError if there is no such token, where the tokenizer can tell
  std::function<std::string(std::int32_t token)> decode;
  /// Gives the text of a token that no other is before, where that may differ from decode()'s: BERT's
  /// words have a blank before them only behind others. Not set where it never differs.
  std::function<std::string(std::int32_t token)> decode_first{};
  /// All tokens are below it; 0 where the tokenizer does not say.
  std::int32_t vocabulary = 0;
  /// What encode() has put before a text; text_of() takes it off again.
  std::string lead{};
  /// The special tokens that the tokenizer's files name.
  std::vector<SpecialToken> special{};
  /// Whether a text may be cut behind a newline between two characters that are no white space: the
  /// tokens of both parts are then those of the whole.
  bool cuts_at_lines = false;
  /// Tells it from other tokenizers: for those from files, a hash of what was read.
  std::string identity{};

  /// The text of all of these tokens.
  /// throws    what decode() throws
  std::string text_of(std::span<const std::int32_t> tokens) const;
};

/// A tokenizer for which each byte is a token; the vocabulary is 256.
Tokenizer byte_tokenizer();

/// Reads a tokenizer from files of others: a tokenizer.json of Hugging Face's tokenizers with a BPE or
/// a WordPiece, or a folder that holds one; a folder with GPT-2's files, which are encoder.json and
/// vocab.bpe, or by their other names vocab.json and merges.txt; BERT's vocab.txt, or a folder that
/// holds it; where Sinter was built with the library, a model of SentencePiece, which is a *.model or
/// a folder that holds tokenizer.model or spiece.model. docs/tokenizers.md says what of tokenizer.json
/// is understood, and when a vocab.txt is taken for one of small letters. encode() takes any bytes: by
/// a BPE of the first two those that are no UTF-8 keep their value, too.
/// throws    FileError that names the file, and what in it is damaged or not understood
Tokenizer load_tokenizer(const std::filesystem::path& path);

/// Whether a folder has a file by a name that load_tokenizer() looks for in folders.
bool holds_tokenizer(const std::filesystem::path& folder);

}  // namespace sinter
