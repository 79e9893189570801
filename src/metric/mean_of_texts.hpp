// SPDX-License-Identifier: Apache-2.0
// Means over texts: their number, and two sums that stay exact.
#pragma once
#include <algorithm>

#include "sinter/metric/text_sums.hpp"

namespace sinter::detail {

/// Adds a text's figure, in [0, 1], to three sums.
inline void add_to_mean(double figure, TextSums& into) {
  ++into.sums[0];
  add_exactly(figure, std::span<double, 2>(&into.sums[1], 2));
}
/// Adds the figure of the reference that gives the largest.
inline void add_best(const WrittenReply& reply, TextSums& into, auto&& figure_by) {
  double best = 0;
  for (const std::string& reference : reply.references)
    best = std::max(best, double(figure_by(reference)));
  add_to_mean(best, into);
}
/// The mean of what was added; NaN without texts.
inline double mean_of(const TextSums& all) {
  return exact_sum(std::span<const double, 2>(&all.sums[1], 2)) / all.sums[0];
}

/// The harmonic mean of precision and recall where `common` words of two texts are the same.
inline double f_measure(std::size_t common, std::size_t words, std::size_t right) {
  if (common == 0) return 0;
  const double precision = double(common) / double(words), recall = double(common) / double(right);
  return 2 * precision * recall / (precision + recall);
}

}  // namespace sinter::detail
