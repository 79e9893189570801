// SPDX-License-Identifier: Apache-2.0
// A range of numbers on the command line.
#pragma once
#include <string>

#include "cli/numbers.hpp"

namespace sinter::detail::tune {

/// LOW..HIGH, perhaps with a count.
struct NumberRange {
  double low = 0, high = 0;
  int count = 0;  ///< of values; 0 if none was given
};

/// Reads "1e-4..1e-2:6" or "1e-4..1e-2".
/// flag: for the error. bounds: of both ends. least: of the count
/// throws    UsageError unless low < high, and all are within their bounds
NumberRange number_range_of(const std::string& flag, const std::string& text, const Range& bounds,
                            int least);

}  // namespace sinter::detail::tune
