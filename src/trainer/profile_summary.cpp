// SPDX-License-Identifier: Apache-2.0
#include "trainer/profile_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace sinter::detail {

std::string profile_summary(const std::map<std::string, std::int64_t>& spent, std::int64_t steps) {
  constexpr std::size_t limit = 10;
  std::vector<std::pair<std::int64_t, std::string>> lines;
  std::int64_t all = 0;
  for (const auto& [name, time] : spent) {
    if (time <= 0) continue;
    lines.emplace_back(time, name);
    all += time;
  }
  std::ranges::sort(lines, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  if (lines.size() > limit) {
    std::int64_t others = 0;
    for (std::size_t k = limit - 1; k < lines.size(); ++k) others += lines[k].first;
    const std::size_t count = lines.size() - (limit - 1);
    lines.resize(limit - 1);
    lines.emplace_back(others, fmt::format("{} others", count));
  }
  std::string text;
  for (const auto& [time, name] : lines)
    text += fmt::format("\n{:5.1f} %  {:9.3f} ms a step  {}", 100. * double(time) / double(all),
                        double(time) / 1e6 / double(steps), name);
  return text;
}

}  // namespace sinter::detail
