// SPDX-License-Identifier: Apache-2.0
#include "sinter/metric/token_f1.hpp"

#include <map>

#include "metric/mean_of_texts.hpp"
#include "metric/words.hpp"

namespace sinter::detail {
namespace {

/// The number of words that two texts have in common, as bags.
std::size_t common(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  std::map<std::string_view, int> left;
  for (const std::string& word : b) ++left[word];
  std::size_t count = 0;
  for (const std::string& word : a)
    if (const auto found = left.find(word); found != left.end() && found->second-- > 0) ++count;
  return count;
}

}  // namespace

void add_token_f1(Normalisation normalisation, const WrittenReply& reply, TextSums& into) {
  const std::vector<std::string> words = normalised_words(reply.text, normalisation);
  add_best(reply, into, [&](const std::string& reference) {
    const std::vector<std::string> right = normalised_words(reference, normalisation);
    return f_measure(common(words, right), words.size(), right.size());
  });
}

double mean_of_texts(const TextSums& all) { return mean_of(all); }

}  // namespace sinter::detail
