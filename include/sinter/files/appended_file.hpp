// SPDX-License-Identifier: Apache-2.0
// A file that grows by whole pieces.
#pragma once
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <string_view>

#include "sinter/files/io.hpp"

namespace sinter::detail {

/// A regular file of a run to which pieces are appended, each whole or not at all. One thread may
/// append while another makes the file durable.
class AppendedFile {
  std::filesystem::path name;
  Descriptor descriptor;
  std::uint64_t length = 0;
  std::mutex changing;  // held while a piece is appended or a removed file is written again

  bool is_removed() const;
  void restore();

 public:
  /// How the file is opened.
  enum class Mode {
    continued,  ///< Append to the file; create it if it is missing.
    created     ///< Create the file; an existing one is an error.
  };

  /// Opens the file, and makes its name durable if it is new.
  /// throws    FileError, also if it is a link or no regular file
  AppendedFile(std::filesystem::path path, Mode mode);

  /// The path of the file.
  const std::filesystem::path& path() const { return name; }
  /// Writes one piece, with one call of write(2) wherever the system takes it whole.
  /// throws    FileError (disk full); no part of the piece then stays in the file
  void append(std::string_view piece);
  /// Makes what was appended durable. If the file has been removed meanwhile, it is written again.
  /// throws    FileError
  void sync();
};

}  // namespace sinter::detail
