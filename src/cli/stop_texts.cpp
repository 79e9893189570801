// SPDX-License-Identifier: Apache-2.0
#include "cli/stop_texts.hpp"

#include <algorithm>

namespace sinter::detail::cli {

std::string StopTexts::add(std::string_view piece) {
  if (!found_.empty()) return "";
  held_ += piece;
  std::size_t cut = held_.npos, kept = 0;
  for (const std::string& stop : stops_) {
    if (const std::size_t at = held_.find(stop); at < cut) {
      cut = at;
      found_ = stop;
    }
    for (std::size_t part = std::min(stop.size() - 1, held_.size()); part > kept; --part)
      if (held_.ends_with(std::string_view(stop).substr(0, part))) kept = part;
  }
  std::string shown = held_.substr(0, std::min(cut, held_.size() - kept));
  held_.erase(0, found_.empty() ? shown.size() : held_.npos);
  return shown;
}

}  // namespace sinter::detail::cli
