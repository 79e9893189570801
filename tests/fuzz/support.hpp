// SPDX-License-Identifier: Apache-2.0
// What fuzz targets share. A target throws away the errors that its parser documents: any other
// exception, a failed ensure() and a sanitizer's report end it.
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "sinter/error.hpp"
#include "support/folder.hpp"

namespace sinter::detail::fuzz {

namespace fs = std::filesystem;
using testing::TemporaryFolder;

inline std::string text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

inline void ensure(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

/// Writes a file, and returns its path.
inline fs::path put(const fs::path& file, std::string_view content) {
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out.write(content.data(), std::streamsize(content.size()));
  ensure(out.flush().good(), "a file can be written");
  return file;
}

}  // namespace sinter::detail::fuzz
