// SPDX-License-Identifier: Apache-2.0
// What the choice of a token asks of its logits, which are `n` numbers on the host. One thread
// computes it there, whatever device computes logits. The bits are the same on all processors that
// add products without rounding them (FMA).
#pragma once
#include <cstdint>

namespace sinter::kernel {

/// What logits are like as a whole.
struct LogitRange {
  float largest;  ///< of all, unless one is NaN; minus infinity if there are none
  bool is_fine;   ///< true if none is NaN or plus infinity
};
/// Looks at all logits once.
LogitRange logit_range(const float* logits, std::int64_t n);

/// The logarithm of the sum of exponentials, summed in double: 0 is added for minus infinity.
/// Errs by at most (8 + n / 16) ε, with ε that of double, and by the result's own rounding.
/// requires  no logit is NaN or plus infinity; `largest` is that of logit_range()
double log_sum_exp(const float* logits, std::int64_t n, float largest);
/// The same, where the largest is not known.
inline double log_sum_exp(const float* logits, std::int64_t n) {
  return log_sum_exp(logits, n, logit_range(logits, n).largest);
}

/// The first index from `first` on whose number is at least `bound`; n if there is none.
std::int64_t find_at_least(const float* x, std::int64_t first, std::int64_t n, float bound);

}  // namespace sinter::kernel
