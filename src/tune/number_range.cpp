// SPDX-License-Identifier: Apache-2.0
#include "tune/number_range.hpp"

namespace sinter::detail::tune {

NumberRange number_range_of(const std::string& flag, const std::string& text, const Range& bounds,
                            int least) {
  const std::size_t dots = text.find("..");
  if (dots == text.npos)
    throw cli::UsageError(
        fmt::format("{} takes LOW..HIGH or LOW..HIGH:COUNT, not '{}'.", flag, text));
  const std::size_t colon = text.find(':', dots);
  const std::string low = text.substr(0, dots),
                    high = text.substr(dots + 2, colon == text.npos ? colon : colon - dots - 2);
  NumberRange range{cli::number_of<double>(flag, low, bounds),
                    cli::number_of<double>(flag, high, bounds)};
  if (range.low >= range.high)
    throw cli::UsageError(
        fmt::format("{} takes LOW..HIGH with LOW below HIGH, not '{}'.", flag, text));
  if (colon != text.npos) range.count = cli::number_of<int>(flag, text.substr(colon + 1), least);
  return range;
}

}  // namespace sinter::detail::tune
