// SPDX-License-Identifier: Apache-2.0
// What fuzz targets share. A target throws away the errors that its parser documents: any other
// exception, a failed ensure() and a sanitizer's report end it.
#pragma once
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "sinter/error.hpp"

namespace sinter::fuzz {

namespace fs = std::filesystem;

inline std::string text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

inline void ensure(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

/// A folder of this process, gone when it ends.
class Folder {
  fs::path name;

 public:
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "sinter-fuzz-XXXXXX").string();
    ensure(::mkdtemp(pattern.data()) != nullptr, "a temporary folder can be made");
    name = pattern;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(name, ignored);
  }
  const fs::path& path() const { return name; }
  /// Writes a file of the folder.
  fs::path put(const std::string& file, std::string_view content) const {
    std::ofstream out(name / file, std::ios::binary | std::ios::trunc);
    out.write(content.data(), std::streamsize(content.size()));
    ensure(out.flush().good(), "a file can be written");
    return name / file;
  }
};

}  // namespace sinter::fuzz
