// SPDX-License-Identifier: Apache-2.0
// How messages name ranks that have not come.
#pragma once
#include <algorithm>
#include <string>
#include <vector>

namespace sinter {

/// Such as "ranks 1, 2 of 5 have not come"; of many, the first 16.
/// requires  at least one is missing
inline std::string late_text(const std::vector<int>& missing, int ranks) {
  std::string text = missing.size() == 1 ? "rank" : "ranks";
  for (std::size_t k = 0; k < std::min<std::size_t>(missing.size(), 16); ++k)
    text += (k ? ", " : " ") + std::to_string(missing[k]);
  if (missing.size() > 16) text += " and more";
  return text + " of " + std::to_string(ranks) +
         (missing.size() == 1 ? " has not come" : " have not come");
}

}  // namespace sinter
