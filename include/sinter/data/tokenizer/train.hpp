// SPDX-License-Identifier: Apache-2.0
// Trains a tokenizer on text.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sinter/data/data_files.hpp"

namespace sinter {

/// How a tokenizer is trained.
struct TokenizerTraining {
  /// Tokens in all: the special ones, the 256 bytes, and those that merges make.
  std::int64_t size = 0;
  /// A pair of tokens that comes less often is not merged.
  std::int64_t min_frequency = 1;
  /// Tokens that no text gives, such as "<|endoftext|>"; their ids are the first.
  std::vector<std::string> special{};
  /// Threads that count words; 0 stands for one for each processor.
  int threads = 0;
  /// It is called now and then with the bytes of files that are counted, as they lie on the disk, by
  /// one thread at a time; it may be left out, and what it throws ends the work.
  std::function<void(std::int64_t bytes)> counted{};
  /// Likewise with the tokens that there are, while merges are made.
  std::function<void(std::int64_t tokens)> merged{};
};

/// A tokenizer that was trained.
struct TrainedTokenizer {
  std::string json;         ///< as tokenizer.json, which load_tokenizer() and `tokenizers` read
  std::int64_t tokens = 0;  ///< fewer than were asked for where the text has no more pairs
  std::int64_t merges = 0;  ///< pairs that become one token
  std::int64_t words = 0;   ///< pieces of text that differ
};

/// Trains a byte-level BPE, split by GPT-2's pattern. Its tokens and merges are those of Hugging
/// Face's `tokenizers` (BpeTrainer with the alphabet of ByteLevel, `train(files)`), as there: each
/// line with its line break is a text of its own; again and again, the pair of neighbouring tokens that
/// comes most often becomes a token, and of pairs that come equally often the one whose ids come
/// first. Special tokens in the text are text. Bytes that are no UTF-8 are learnt as they are, and
/// compressed files are read as their content. The result does not depend on the threads.
/// throws    ArgumentError where `size` has no room for the special tokens and the bytes, is above
///           16,777,216, or a special token is empty, no UTF-8, or there twice; FileError, also if a
///           file changes meanwhile
TrainedTokenizer train_tokenizer(const DataFiles& files, const TokenizerTraining& training);

}  // namespace sinter
