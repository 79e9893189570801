// SPDX-License-Identifier: Apache-2.0
// A disk that is full soon: a tmpfs that only this process and its children see.
#pragma once
#include <sched.h>
#include <sys/mount.h>

#include <filesystem>
#include <string>

namespace sinter::detail::testing {

/// Mounts an empty file system of so many bytes, such as "1m"; false where this process may not.
inline bool mount_small(const std::filesystem::path& folder, const std::string& bytes) {
  static bool own_mounts = ::unshare(CLONE_NEWNS) == 0;
  if (!own_mounts || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return false;
  std::filesystem::create_directories(folder);
  return ::mount("tmpfs", folder.c_str(), "tmpfs", 0, ("size=" + bytes).c_str()) == 0;
}

}  // namespace sinter::detail::testing
