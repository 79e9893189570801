// SPDX-License-Identifier: Apache-2.0
// Files that may be compressed, read as their content.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "sinter/files/io.hpp"

namespace sinter::detail {

/// How a file is compressed, which its first bytes show; its name does not matter.
enum class Compression {
  none,  ///< not compressed
  gzip,  ///< RFC 1952, of one member or several
  xz,    ///< of one stream or several
  zstd   ///< RFC 8878, of one frame or several
};

/// Reads the content of a file from front to back, and decompresses it if it is compressed. Checks
/// the file's checksums and length, and that nothing else follows. Memory is bounded, whatever the
/// file asks for: 160 MiB for xz, and windows of 128 MiB for zstd, which is what `xz -9` and
/// `zstd --ultra --long` need.
class DecompressedFile {
 public:
  /// throws    FileError if the file is missing, unreadable or not a regular file, a link where
  ///           links are refused, or not compressed although its name ends in .gz, .xz or .zst
  explicit DecompressedFile(std::filesystem::path path, Links links = Links::followed);
  /// Goes on at the position of the other file, which may then only be destroyed.
  DecompressedFile(DecompressedFile&&) noexcept;
  ~DecompressedFile();

  /// The file as it lies on the disk.
  const InputFile& file() const;
  /// How it is compressed.
  Compression compression() const;
  /// Number of bytes of the content that have been read.
  std::uint64_t position() const;

  /// Copies the next `bytes` bytes of the content, or fewer at its end. Returns their number.
  /// throws    FileError that names the byte of the file at which it is damaged or cut short; also
  ///           if the file needs more memory than the bounds of DecompressedFile
  std::size_t read(void* into, std::size_t bytes);

 private:
  struct State;
  std::unique_ptr<State> state;
};

/// The content of a file, decompressed if it is compressed.
/// throws    FileError, as DecompressedFile does; also if the content has more than `limit` bytes.
///           Memory grows with the content that is read, not with what the file announces
std::string read_decompressed(const std::filesystem::path& path,
                              std::uint64_t limit = std::uint64_t(1) << 40);

}  // namespace sinter::detail
