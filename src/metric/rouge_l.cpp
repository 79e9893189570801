// SPDX-License-Identifier: Apache-2.0
#include "sinter/metric/rouge_l.hpp"

#include <algorithm>

#include "metric/mean_of_texts.hpp"
#include "metric/words.hpp"

namespace sinter {
using namespace detail;
namespace {

using Words = std::vector<std::string>;

/// The length of the longest common subsequence.
std::size_t common(const Words& a, const Words& b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (const std::string& word : a) {
    std::size_t diagonal = 0;
    for (std::size_t k = 0; k < b.size(); ++k) {
      const std::size_t above = row[k + 1];
      row[k + 1] = word == b[k] ? diagonal + 1 : std::max(above, row[k]);
      diagonal = above;
    }
  }
  return row.back();
}

}  // namespace

void RougeL::add(const WrittenReply& reply, TextSums& into) {
  const Words words = words_of_rouge(reply.text);
  add_best(reply, into, [&](const std::string& reference) {
    const Words right = words_of_rouge(reference);
    return f_measure(common(words, right), words.size(), right.size());
  });
}

double RougeL::value(const TextSums& all) { return mean_of(all); }

}  // namespace sinter
