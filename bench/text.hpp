// SPDX-License-Identifier: Apache-2.0
// Text to train on.
#pragma once
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "sinter/error.hpp"

namespace sinter::detail::bench {

/// The text of a file, or of all headers of this project if none is named: text that everybody has.
inline std::string read_text(const std::string& file) {
  namespace fs = std::filesystem;
  std::vector<fs::path> paths;
  if (file.empty()) {
    for (const auto& entry : fs::recursive_directory_iterator(SINTER_BENCH_DIR "/../include"))
      if (entry.is_regular_file()) paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
  } else {
    paths.push_back(file);
  }
  std::string text;
  for (const fs::path& path : paths) {
    std::ifstream in(path, std::ios::binary);
    if (!in) throw Error("Cannot read " + path.string() + ".");
    text.append(std::istreambuf_iterator<char>(in), {});
  }
  return text;
}

}  // namespace sinter::detail::bench
