// SPDX-License-Identifier: Apache-2.0
// What the tests of files share.
#pragma once
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "support/folder.hpp"
#include "support/message_of.hpp"

namespace sinter::detail::testing {

/// Writes a new file, and returns its path. (ext4 flushes a file that is emptied and written again
/// when it is closed, which costs milliseconds, but not a new one.)
inline std::string put(const fs::path& path, const std::string& content) {
  fs::remove(path);
  std::ofstream out(path, std::ios::binary);
  out << content;
  REQUIRE(out.flush().good());
  return path.string();
}

inline std::string get(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The number of names in `folder` that begin with a dot, as what an unfinished save leaves does.
inline int hidden_entries(const fs::path& folder) {
  int count = 0;
  for (const auto& entry : fs::directory_iterator(folder))
    count += entry.path().filename().string().starts_with('.');
  return count;
}

}  // namespace sinter::detail::testing
