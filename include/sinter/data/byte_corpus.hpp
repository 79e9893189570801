// SPDX-License-Identifier: Apache-2.0
// A text read as bytes from files and folders.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sinter/data/data_files.hpp"
#include "sinter/files/decompress.hpp"

namespace sinter {

/// Holds the bytes of files (DataFiles) in memory, one file after the other, without separators.
///
/// A file that is compressed by gzip, xz or zstd, as its first bytes show, is read as its content
/// (DecompressedFile).
///
/// Takes as much memory as the content of the files. If some are compressed, it takes up to twice
/// as much address space, because their size shows only as they are read.
class ByteCorpus {
 public:
  /// A file that was read.
  struct File {
    std::string path;         ///< for messages: a path that was given, or one below it
    std::int64_t bytes = 0;   ///< size of its content in bytes()
    std::int64_t stored = 0;  ///< size on the disk; mostly smaller than `bytes` if compressed
    detail::Compression compression = detail::Compression::none;  ///< of the file
  };
  using LeftOut = DataFiles::LeftOut;        ///< a path below a folder that was not read
  using Unreadable = DataFiles::Unreadable;  ///< what happens to paths that cannot be read
  /// The training text and the held-out text.
  struct Split {
    std::span<const unsigned char> train, validation;  ///< neighbours in bytes()
  };

  /// throws    what DataFiles throws; FileError that names the path, for a file that cannot be
  ///           read, or is compressed and damaged or cut short; FileError if all are empty, or have
  ///           more bytes than the machine has memory
  explicit ByteCorpus(const std::vector<std::string>& paths,
                      Unreadable unreadable = Unreadable::refused);

  /// The bytes of all files, in the order of files().
  std::span<const unsigned char> bytes() const { return text; }
  /// The files, in the order of their bytes in bytes().
  const std::vector<File>& files() const { return read_files; }
  /// The paths that were left out (DataFiles::left_out()).
  const std::vector<LeftOut>& left_out() const { return found.left_out(); }
  /// Describes what was left out (DataFiles::left_out_text()).
  std::string left_out_text() const { return found.left_out_text(); }
  /// Names the first file that has changed (DataFiles::changed()).
  std::string changed() const { return found.changed(); }

  /// Validation gets the last floor(share · size) bytes, training all before them.
  /// throws    ArgumentError, with the numbers of bytes available and needed, unless 0 < share < 1,
  ///           training fills a window of `context` (context + 1 bytes) and validation predicts at
  ///           least one byte (2 bytes)
  Split split(double share, int context) const;

  /// Frees the memory of the text; bytes() is then empty. All else is unchanged.
  void drop_text() { std::vector<unsigned char>().swap(text); }

 private:
  DataFiles found;
  std::vector<File> read_files;
  std::vector<unsigned char> text;
};

}  // namespace sinter
