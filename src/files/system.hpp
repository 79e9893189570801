// SPDX-License-Identifier: Apache-2.0
// System calls of this room.
#pragma once
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "sinter/files/io.hpp"

namespace sinter::detail {

/// Makes a call like those of unistd.h again as long as a signal interrupts it. Returns its answer,
/// -1 for an error in errno.
auto uninterrupted(auto call) {
  for (;;) {
    auto answer = call();
    if (answer != -1 || errno != EINTR) return answer;
  }
}

/// The name of this host, or `otherwise` if it has none.
inline std::string host_name(const char* otherwise) {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 && *name ? name : otherwise;
}

/// When a file was written to last, in nanoseconds since 1970.
inline std::int64_t modified_of(const struct stat& found) {
  return std::int64_t(found.st_mtim.tv_sec) * 1'000'000'000 + found.st_mtim.tv_nsec;
}

/// Opens a path with open(2)'s flags.
/// throws    FileError: "Cannot <action> …"
Descriptor open_path(const std::filesystem::path& path, int flags, std::string_view action);

/// Opens a regular file, without waiting for the other end of a pipe.
/// throws    FileError if it is something else, such as a link where those are refused
Descriptor open_regular(const std::filesystem::path& path, int flags, Links links,
                        std::string_view action = "open");

/// True if a regular file begins with a text.
/// throws    FileError if it cannot be read
bool begins_with(const std::filesystem::path& path, std::string_view text);

/// Makes one folder, which may not be there yet. Its name is not made durable.
/// throws    FileError that names `shown`
void make_folder(const std::filesystem::path& folder, const std::filesystem::path& shown);

/// temporary_sibling() as another process names it.
std::filesystem::path temporary_sibling_of(int process, const std::filesystem::path& path);

/// The paths of what a folder holds.
/// throws    FileError
std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder);

/// fs::remove_all(), which a signal does not stop.
std::error_code remove_all_of(const std::filesystem::path& path);

}  // namespace sinter::detail
