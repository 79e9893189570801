// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace sinter::detail::testing {

/// The rows of a file of JSON lines. A last line without its line break is none: whoever writes the
/// file may be in the middle of it.
inline std::vector<nlohmann::json> json_rows(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::vector<nlohmann::json> rows;
  for (std::string line; std::getline(file, line) && !file.eof();)
    rows.push_back(nlohmann::json::parse(line));
  return rows;
}

}  // namespace sinter::detail::testing
