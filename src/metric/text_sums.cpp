// SPDX-License-Identifier: Apache-2.0
#include "sinter/metric/text_sums.hpp"

#include <cmath>

namespace sinter {

TextSums& TextSums::operator+=(const TextSums& more) {
  for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += more.sums[k];
  seen.insert(more.seen.begin(), more.seen.end());
  return *this;
}

void add_exactly(double number, std::span<double, 2> sums) {
  const double high = std::floor(std::ldexp(number, 25));
  sums[0] += high;
  sums[1] += std::round(std::ldexp(number, 50) - std::ldexp(high, 25));
}

double exact_sum(std::span<const double, 2> sums) {
  return std::ldexp(sums[0], -25) + std::ldexp(sums[1], -50);
}

}  // namespace sinter
