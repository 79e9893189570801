// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>

#include "sinter/metric/metric.hpp"
#include "sinter/metric/text_sums.hpp"

namespace sinter {

struct HitsAtOptions {
  int k = 1;  ///< a hit is a reply among the first k, from 1
  int candidates =
      20;  ///< number of replies that are ranked for each example; above k, at most 9999
};

namespace detail {
/// A name that ends in a number.
template <int N, std::size_t Size>
constexpr auto name_with_number(const char (&prefix)[Size]) {
  constexpr int digits = N < 10 ? 1 : N < 100 ? 2 : N < 1000 ? 3 : 4;
  std::array<char, Size - 1 + digits> name{};
  for (std::size_t k = 0; k + 1 < Size; ++k) name[k] = prefix[k];
  int rest = N;
  for (std::size_t k = name.size(); k >= Size; --k, rest /= 10) name[k - 1] = char('0' + rest % 10);
  return name;
}
}  // namespace detail

/// The share of examples whose own reply is among the k likeliest of a group (hits@k of ParlAI's -cands
/// batch). Examples that follow each other in the set are a group of `candidates`, whose replies are all
/// ranked for each. The last group begins earlier if it would be too small, so the figure does not depend
/// on batches or ranks. A reply's score is the mean log-probability of its tokens, its end included, behind
/// what the example shows, as ParlAI's generators rank. Equal replies are one candidate. Of those as likely,
/// that of the earlier example comes first. A reply longer than the example's own may shorten what is
/// shown, from its beginning. Each example takes a pass through the model for each candidate, and
/// Evaluate::examples says how many examples are ranked. Its name is hits_at_1, hits_at_5 and so on.
template <HitsAtOptions O = {}>
struct HitsAt {
 private:
  static constexpr auto letters = detail::name_with_number<O.k>("hits_at_");

 public:
  static constexpr std::string_view name{letters.data(), letters.size()};
  static constexpr bool greater_is_better = true;

  static constexpr int k = O.k;                    ///< what is in the name
  static constexpr int candidates = O.candidates;  ///< replies that are ranked
  static constexpr int sums = 2;                   ///< hits and examples
  static void add(const RankedReply& reply, TextSums& into) {
    into.sums[0] += reply.rank < O.k;
    ++into.sums[1];
  }
  static double value(const TextSums& all) { return all.sums[0] / all.sums[1]; }
};

}  // namespace sinter
