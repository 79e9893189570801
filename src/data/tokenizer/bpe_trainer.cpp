// SPDX-License-Identifier: Apache-2.0
#include "data/tokenizer/bpe_trainer.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <tuple>

#include "data/tokenizer/vocabulary.hpp"
#include "sinter/error.hpp"

namespace sinter::detail {
namespace {

std::uint64_t key_of(std::int32_t left, std::int32_t right) {
  return std::uint64_t(std::uint32_t(left)) << 32 | std::uint32_t(right);
}

/// Of merges of the same pair, only the last stays.
std::vector<Merge> last_of_each(const std::vector<Merge>& merges) {
  std::set<std::uint64_t> seen;
  std::vector<Merge> last;
  for (auto merge = merges.rbegin(); merge != merges.rend(); ++merge)
    if (seen.insert(key_of(merge->left, merge->right)).second) last.push_back(*merge);
  std::ranges::reverse(last);
  return last;
}

}  // namespace

bool BpeTrainer::Candidate::operator<(const Candidate& o) const {
  return std::tie(count, o.pair, o.places) < std::tie(o.count, pair, places);
}

BpeTrainer::BpeTrainer(const std::vector<std::string>& special) {
  for (const std::string& token : special) add(token);
  std::vector<std::string> alphabet;
  for (int byte = 0; byte < 256; ++byte)
    alphabet.push_back(spelling_of_bytes(std::string(1, char(byte))));
  std::ranges::sort(alphabet);  // by UTF-8, which is the order of code points
  for (const std::string& letter : alphabet) add(letter);
}

std::int32_t BpeTrainer::add(const std::string& spelling) {
  const auto [at, is_new] = ids.emplace(spelling, std::int32_t(tokens.size()));
  if (is_new) tokens.push_back(spelling);
  return at->second;
}

/// A pair comes so many times more in a word, or fewer.
void BpeTrainer::change(std::int32_t left, std::int32_t right, std::int64_t by,
                        std::uint32_t word) {
  const std::uint64_t key = key_of(left, right);
  Pair& pair = pairs[key];
  pair.count += by;
  if (by < 0) return;
  if (pair.fresh < 0) {
    pair.fresh = std::int64_t(places.size());
    fresh.emplace_back(key, places.size());
    places.emplace_back();
  }
  std::vector<std::uint32_t>& found = places[std::size_t(pair.fresh)];
  if (found.empty() || found.back() != word) found.push_back(word);
}

void BpeTrainer::push_fresh() {
  for (const auto& [key, at] : fresh) {
    Pair& pair = pairs[key];
    pair.fresh = -1;
    if (pair.count <= 0) continue;
    heap.push_back({pair.count, key, at});
    std::push_heap(heap.begin(), heap.end());
  }
  fresh.clear();
}

void BpeTrainer::merge_in(std::uint32_t number, const Merge& merge) {
  Word& word = words[number];
  std::int32_t* const all = text.data() + word.begin;
  std::size_t kept = 0;
  for (std::size_t at = 0; at < word.size; ++at) {
    if (all[at] != merge.left || at + 1 == word.size || all[at + 1] != merge.right) {
      all[kept++] = all[at];
      continue;
    }
    if (kept > 0) {
      change(all[kept - 1], merge.left, -word.count, number);
      change(all[kept - 1], merge.result, word.count, number);
    }
    ++at;
    if (at + 1 < word.size) {
      change(merge.right, all[at + 1], -word.count, number);
      change(merge.result, all[at + 1], word.count, number);
    }
    all[kept++] = merge.result;
  }
  word.size = kept;
}

LearntBpe BpeTrainer::train(const WordCounts& counts, std::int64_t wanted,
                            std::int64_t min_frequency,
                            const std::function<void(std::int64_t)>& progress) {
  std::array<std::int32_t, 256> of_byte;
  for (int byte = 0; byte < 256; ++byte)
    of_byte[std::size_t(byte)] = ids.at(spelling_of_bytes(std::string(1, char(byte))));
  if (counts.size() > std::numeric_limits<std::uint32_t>::max())
    throw ArgumentError("The text has more than 4,294,967,295 different words. Train on a part.");
  for (const auto& [word, count] : counts) {
    words.push_back({text.size(), word.size(), count});
    for (char byte : word) text.push_back(of_byte[static_cast<unsigned char>(byte)]);
    for (std::size_t at = words.back().begin; at + 1 < text.size(); ++at)
      change(text[at], text[at + 1], count, std::uint32_t(words.size() - 1));
  }
  push_fresh();
  std::vector<Merge> merges;
  while (size() < wanted && !heap.empty()) {
    std::pop_heap(heap.begin(), heap.end());
    Candidate& top = heap.back();
    if (const std::int64_t count = pairs[top.pair].count; count != top.count) {
      top.count = count;
      std::push_heap(heap.begin(), heap.end());
      continue;
    }
    const Candidate best = top;
    heap.pop_back();
    if (best.count < std::max<std::int64_t>(1, min_frequency)) break;
    const auto left = std::int32_t(best.pair >> 32), right = std::int32_t(best.pair & 0xffffffff);
    merges.push_back({left, right, add(tokens[std::size_t(left)] + tokens[std::size_t(right)])});
    const std::vector<std::uint32_t> where = std::move(places[best.places]);
    for (std::uint32_t word : where) merge_in(word, merges.back());
    push_fresh();
    if (progress) progress(size());
  }
  return {std::move(tokens), last_of_each(merges)};
}

}  // namespace sinter::detail
