// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/metric/metric.hpp"

namespace sinter {

/// ROUGE-L (Lin 2004): the mean over replies of the F-measure of the longest common subsequence of words,
/// that of the best reference, from 0 to 1. Its words are those of Google's rouge_score without a stemmer:
/// runs of a-z and 0-9, so that texts in other scripts have none.
struct RougeL {
  static constexpr std::string_view name = "rouge_l";
  static constexpr bool greater_is_better = true;

  static constexpr int sums = 3;  ///< replies, and the exact sum of their F
  static void add(const WrittenReply& reply, TextSums& into);
  static double value(const TextSums& all);
};

}  // namespace sinter
