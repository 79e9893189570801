// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace sinter::kernel {

/// The number of the candidate, counted from 0, whose median of `times` measurements is the least;
/// of equal ones the first. measure(k) runs candidate k and returns how long it took, or infinity if
/// it cannot run. What it returns first for a candidate does not count, as that warms up. Returns -1
/// if none can run.
template <class F>
int fastest(int candidates, int times, const F& measure) {
  int best = -1;
  double least = std::numeric_limits<double>::infinity();
  for (int k = 0; k < candidates; ++k) {
    if (std::isinf(measure(k))) continue;
    std::vector<double> took;
    for (int n = 0; n < times; ++n) took.push_back(measure(k));
    const auto middle = took.begin() + times / 2;
    std::ranges::nth_element(took, middle);
    if (*middle >= least) continue;
    least = *middle;
    best = k;
  }
  return best;
}

}  // namespace sinter::kernel
