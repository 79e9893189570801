// SPDX-License-Identifier: Apache-2.0
// A file that several processes write, each its parts, also of several hosts that share its file system.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string_view>

#include "files/direct.hpp"
#include "sinter/files/io.hpp"

namespace sinter::detail {

/// One writer of the file. Bytes wait in a buffer of 1 MiB, from which whole blocks go past the page cache, as those
/// of an OutputFile. It never reads, so that a network file system has no bytes of others to write back.
class SharedFile {
  std::filesystem::path name;
  Descriptor descriptor;
  BlockBuffer buffer;
  std::uint64_t start = 0;  // where the waiting bytes begin in the file
  std::size_t filled = 0;
  bool refuses_direct = false;

  SharedFile(std::filesystem::path path, int flags);
  void flush();
  void put(const char* from, std::size_t bytes, std::uint64_t at, bool direct);

 public:
  /// Makes the file with `bytes` bytes. If the file system can, it reserves the room on the disk.
  /// throws    FileError; so do the others
  static SharedFile made(const std::filesystem::path& path, std::uint64_t bytes);
  /// Opens a file that another process has made, and that is no link.
  static SharedFile opened(const std::filesystem::path& path);
  SharedFile(SharedFile&&) = default;

  /// Writes to a place, which is best the end of what was written last. It must lie within the file.
  void write(std::uint64_t at, const void* data, std::size_t bytes);
  /// Writes what waits, syncs and closes the file.
  void finish();
};

}  // namespace sinter::detail
