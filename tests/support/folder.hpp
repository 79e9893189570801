// SPDX-License-Identifier: Apache-2.0
// A place for a test's files.
#pragma once
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace sinter::detail::testing {

namespace fs = std::filesystem;

/// A fresh folder that is gone when the test ends.
class TemporaryFolder {
  fs::path name;

 public:
  TemporaryFolder() {
    std::string pattern = (fs::temp_directory_path() / "sinter-test-XXXXXX").string();
    if (!::mkdtemp(pattern.data()))
      throw std::system_error(errno, std::generic_category(), "no folder for the test's files");
    name = pattern;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(name, ignored);
  }
  const fs::path& path() const { return name; }
  fs::path operator/(const fs::path& below) const { return name / below; }
};

}  // namespace sinter::detail::testing
