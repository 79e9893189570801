// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/metric/metric.hpp"
#include "sinter/metric/normalisation.hpp"

namespace sinter {

namespace detail {
void add_token_f1(Normalisation normalisation, const WrittenReply& reply, TextSums& sums);
double mean_of_texts(const TextSums& sums);
}  // namespace detail

/// The mean over replies of the F1 of their words and a reference's, as bags, from 0 to 1; that of the best
/// reference. 0 if no word is common. The normalisations of SQuAD and of ParlAI differ, so the name, which
/// is token_f1_squad or token_f1_parlai, says which.
template <Normalisation N = Normalisation::squad>
struct TokenF1 {
  static constexpr std::string_view name =
      N == Normalisation::squad ? "token_f1_squad" : "token_f1_parlai";
  static constexpr bool greater_is_better = true;

  static constexpr int sums = 3;  ///< replies, and the exact sum of their F1
  static void add(const WrittenReply& reply, TextSums& into) {
    detail::add_token_f1(N, reply, into);
  }
  static double value(const TextSums& all) { return detail::mean_of_texts(all); }
};

}  // namespace sinter
