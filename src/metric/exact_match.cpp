// SPDX-License-Identifier: Apache-2.0
#include "sinter/metric/exact_match.hpp"

#include <algorithm>

#include "metric/words.hpp"
#include "sinter/metric/text_sums.hpp"

namespace sinter::detail {

void add_exact_match(Normalisation normalisation, const WrittenReply& reply, TextSums& into) {
  const std::vector<std::string> words = normalised_words(reply.text, normalisation);
  into.sums[0] += std::ranges::any_of(reply.references, [&](const std::string& reference) {
    return normalised_words(reference, normalisation) == words;
  });
  ++into.sums[1];
}

double share_of_texts(const TextSums& all) { return all.sums[0] / all.sums[1]; }

}  // namespace sinter::detail
