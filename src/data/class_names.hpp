// SPDX-License-Identifier: Apache-2.0
// The names of classes, as a recipe lists them.
#pragma once
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::detail {

/// The names in a list with commas between, without blanks around them.
inline std::vector<std::string> names_in(std::string_view list) {
  std::vector<std::string> names;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    std::string_view name = list.substr(0, end);
    list.remove_prefix(std::min(end + 1, list.size()));
    while (name.starts_with(' ')) name.remove_prefix(1);
    while (name.ends_with(' ')) name.remove_suffix(1);
    names.emplace_back(name);
  }
  return names;
}

}  // namespace sinter::detail
