// SPDX-License-Identifier: Apache-2.0
#include "cli/run_files.hpp"

#include <fmt/format.h>

#include "sinter/files/io.hpp"

namespace sinter::detail::cli {

std::filesystem::path make_run_folder(const std::string& recipe) {
  create_folders("runs");
  for (int n = 1;; ++n) {
    std::filesystem::path folder = fmt::format("runs/{}-{}", recipe, n);
    std::error_code error;
    if (std::filesystem::create_directory(folder, error)) {
      fsync_folder("runs");
      return folder;
    }
    if (error) throw_file_error("create the folder", folder, error.value());
  }
}

}  // namespace sinter::detail::cli
