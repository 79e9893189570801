// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>

#include "sinter/metric/metric.hpp"

namespace sinter {

namespace detail {
void add_distinct(int n, const WrittenReply& reply, TextSums& sums);
double distinct_share(const TextSums& sums);
void add_distinct_in_text(int n, const WrittenReply& reply, TextSums& sums);
double mean_of_distinct(const TextSums& sums);

/// A name that ends in a digit.
template <std::size_t Size>
constexpr std::array<char, Size> numbered(const char (&prefix)[Size], int digit) {
  std::array<char, Size> name{};
  for (std::size_t k = 0; k + 1 < Size; ++k) name[k] = prefix[k];
  name[Size - 1] = char('0' + digit);
  return name;
}
}  // namespace detail

/// The share of distinct n-grams among those of all replies together (Li et al. 2016; ParlAI's
/// interdistinct), of words by ParlAI's normalisation. Its name is distinct_1, distinct_2 and so on. An
/// n-gram is known by 53 bits of a hash.
template <int N>
  requires(N >= 1 && N <= 9)
struct Distinct {
 private:
  static constexpr auto letters = detail::numbered("distinct_", N);

 public:
  static constexpr std::string_view name{letters.data(), letters.size()};
  static constexpr bool greater_is_better = true;

  static constexpr int sums = 1;  ///< n-grams, beside the set of those seen
  static void add(const WrittenReply& reply, TextSums& into) {
    detail::add_distinct(N, reply, into);
  }
  static double value(const TextSums& all) { return detail::distinct_share(all); }
};

/// The mean over replies of the share of distinct n-grams in each (ParlAI's intradistinct); 0 for a reply
/// without one. Its name is distinct_in_text_1 and so on.
template <int N>
  requires(N >= 1 && N <= 9)
struct DistinctInText {
 private:
  static constexpr auto letters = detail::numbered("distinct_in_text_", N);

 public:
  static constexpr std::string_view name{letters.data(), letters.size()};
  static constexpr bool greater_is_better = true;

  static constexpr int sums = 3;  ///< replies, and the exact sum of their shares
  static void add(const WrittenReply& reply, TextSums& into) {
    detail::add_distinct_in_text(N, reply, into);
  }
  static double value(const TextSums& all) { return detail::mean_of_distinct(all); }
};

}  // namespace sinter
