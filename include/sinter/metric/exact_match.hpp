// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/metric/metric.hpp"
#include "sinter/metric/normalisation.hpp"

namespace sinter {

namespace detail {
void add_exact_match(Normalisation normalisation, const WrittenReply& reply, TextSums& sums);
double share_of_texts(const TextSums& sums);
}  // namespace detail

/// The share of replies that equal one of their references, all normalised. Its name is exact_match_squad or
/// exact_match_parlai.
template <Normalisation N = Normalisation::squad>
struct ExactMatch {
  static constexpr std::string_view name =
      N == Normalisation::squad ? "exact_match_squad" : "exact_match_parlai";
  static constexpr bool greater_is_better = true;

  static constexpr int sums = 2;  ///< replies that match, and all
  static void add(const WrittenReply& reply, TextSums& into) {
    detail::add_exact_match(N, reply, into);
  }
  static double value(const TextSums& all) { return detail::share_of_texts(all); }
};

}  // namespace sinter
