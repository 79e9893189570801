// SPDX-License-Identifier: Apache-2.0
// The folder that an export writes.
#pragma once
#include <filesystem>

#include "sinter/error.hpp"

namespace sinter::detail {

/// throws    FileError if a folder is there and not empty, or something else is
inline void require_new_folder(const std::filesystem::path& folder) {
  if (!std::filesystem::exists(folder)) return;
  if (std::filesystem::is_directory(folder) && std::filesystem::is_empty(folder)) return;
  throw FileError("Cannot export to " + folder.string() +
                  ": it exists and is not an empty folder. Name a new folder; nothing was "
                  "changed.");
}

}  // namespace sinter::detail
