// SPDX-License-Identifier: Apache-2.0
// Trains a tokenizer on text.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sinter/data/data_files.hpp"

namespace sinter {

/// Settings for training a tokenizer.
struct TokenizerTraining {
  /// Number of tokens: the special ones, the 256 bytes, and those that merges make.
  std::int64_t size = 0;
  /// Minimum number of occurrences of a pair of tokens that is merged.
  std::int64_t min_frequency = 1;
  /// Tokens that no text gives, such as "<|endoftext|>"; their ids are the first.
  std::vector<std::string> special{};
  /// Number of threads that count words; 0 for one per processor.
  int threads = 0;
  /// Called now and then, by one thread at a time, with the bytes of counted files, as on the disk.
  /// May be empty. What it throws ends the work.
  std::function<void(std::int64_t bytes)> counted{};
  /// Called now and then during merging with the number of tokens. May be empty; may throw.
  std::function<void(std::int64_t tokens)> merged{};
};

/// The result of train_tokenizer().
struct TrainedTokenizer {
  std::string json;         ///< as tokenizer.json, which load_tokenizer() and `tokenizers` read
  std::int64_t tokens = 0;  ///< below `size` if the text has no more pairs
  std::int64_t merges = 0;  ///< pairs that become one token
  std::int64_t words = 0;   ///< number of different pieces of text
};

/// Trains a byte-level BPE, split by GPT-2's pattern, with the tokens and merges of Hugging Face's
/// `tokenizers` (BpeTrainer with the alphabet of ByteLevel, `train(files)`). Each line with its
/// line break is a text of its own. In each round, the most frequent pair of neighbouring tokens
/// becomes a token; among equally frequent pairs, the one whose ids come first. Special tokens in
/// the text are text. Bytes that are no UTF-8 are learnt unchanged, and compressed files are read
/// as their content. The result does not depend on the threads.
/// throws    ArgumentError if `size` has no room for the special tokens and the bytes, or is above
///           16,777,216, or a special token is empty, no UTF-8, or occurs twice; FileError, also if
///           a file changes meanwhile
TrainedTokenizer train_tokenizer(const DataFiles& files, const TokenizerTraining& training);

}  // namespace sinter
