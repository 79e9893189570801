// SPDX-License-Identifier: Apache-2.0
// Finds the merges of a BPE: again and again, the pair of tokens that comes most often becomes one.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "data/tokenizer/merges.hpp"
#include "data/tokenizer/word_counts.hpp"

namespace sinter::detail {

/// Tokens as a tokenizer.json spells them, in the order of their ids, and the merges, in theirs.
struct LearntBpe {
  std::vector<std::string> tokens;
  std::vector<Merge> merges;
};

/// What is done is what BpeTrainer of Hugging Face's `tokenizers` does, also where that may surprise:
/// a merge may make a token that is there already, and a pair whose tokens come together again after
/// it was merged keeps the count that it had, and is moved to its second place among the merges.
class BpeTrainer {
  struct Word {
    std::size_t begin, size;
    std::int64_t count;
  };
  struct Pair {
    std::int64_t count = 0;
    std::int64_t fresh = -1;  // its place in `fresh`
  };
  struct Candidate {
    std::int64_t count;
    std::uint64_t pair;
    std::size_t places;  // in `places`
    bool operator<(const Candidate& o) const;
  };

  std::vector<std::string> tokens;
  std::unordered_map<std::string, std::int32_t> ids;
  std::vector<std::int32_t> text;  // the tokens of all words
  std::vector<Word> words;
  std::unordered_map<std::uint64_t, Pair> pairs;
  std::vector<std::vector<std::uint32_t>> places;  // the words of a candidate
  std::vector<Candidate> heap;
  std::vector<std::pair<std::uint64_t, std::size_t>>
      fresh;  // pairs with words since the last merge

  std::int32_t add(const std::string& spelling);
  void change(std::int32_t left, std::int32_t right, std::int64_t by, std::uint32_t word);
  void push_fresh();
  void merge_in(std::uint32_t word, const Merge& merge);

 public:
  /// The special tokens come first, then the bytes in the order of their spelling.
  explicit BpeTrainer(const std::vector<std::string>& special);

  /// The tokens that there are.
  std::int64_t size() const { return std::int64_t(tokens.size()); }
  LearntBpe train(const WordCounts& counts, std::int64_t wanted, std::int64_t min_frequency,
                  const std::function<void(std::int64_t tokens)>& progress);
};

}  // namespace sinter::detail
