// SPDX-License-Identifier: Apache-2.0
// A bench's folder for files that it needs while it runs.
#pragma once
#include <unistd.h>

#include <filesystem>
#include <string>

namespace sinter::detail::bench {

/// The name of a folder of this process, which is removed with this object. It is not made.
struct ScratchFolder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("sinter-bench-" + std::to_string(getpid()));

  ScratchFolder() = default;
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
};

}  // namespace sinter::detail::bench
