// SPDX-License-Identifier: Apache-2.0
// What tells a file from others of its size and time, without reading it whole.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

namespace sinter::detail {

/// A hash of a file's size, its number in the file system (inode), the time of its last change, and
/// samples of its content: all of it up to 64 KiB, else 16 blocks of 4 KiB, which include the first and
/// the last. That time is the system's own (ctime): every write sets it, and a program cannot, unlike the
/// time of modification. The same file has the same hash by any path.
/// throws    FileError
std::string file_identity(const std::filesystem::path& path);

/// True if a path is that of an open file of this process, as that of standard input is: nothing that is
/// made of it serves another process.
inline bool ends_with_process(std::string_view path) { return path.starts_with("/proc/self/fd/"); }

}  // namespace sinter::detail
