// SPDX-License-Identifier: Apache-2.0
#include "sinter/metric/distinct.hpp"

#include <xxhash.h>

#include "metric/mean_of_texts.hpp"
#include "metric/words.hpp"

namespace sinter::detail {
namespace {

constexpr int bits_left_out = 11;  // of 64, so that a double holds the hash

/// Adds the n-grams of a text to a set. Returns their number.
std::size_t add_grams(int n, std::string_view text, std::unordered_set<std::uint64_t>& into) {
  const std::vector<std::string> words = normalised_words(text, Normalisation::parlai);
  const auto size = std::size_t(n);
  if (words.size() < size) return 0;
  const std::size_t count = words.size() - size + 1;
  for (std::size_t k = 0; k < count; ++k) {
    const std::string gram = joined(words, k, size);
    into.insert(XXH3_64bits(gram.data(), gram.size()) >> bits_left_out);
  }
  return count;
}

}  // namespace

void add_distinct(int n, const WrittenReply& reply, TextSums& into) {
  into.sums[0] += double(add_grams(n, reply.text, into.seen));
}
double distinct_share(const TextSums& all) { return double(all.seen.size()) / all.sums[0]; }

void add_distinct_in_text(int n, const WrittenReply& reply, TextSums& into) {
  std::unordered_set<std::uint64_t> seen;
  const std::size_t count = add_grams(n, reply.text, seen);
  add_to_mean(count > 0 ? double(seen.size()) / double(count) : 0, into);
}
double mean_of_distinct(const TextSums& all) { return mean_of(all); }

}  // namespace sinter::detail
