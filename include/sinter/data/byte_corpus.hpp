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
/// A file that is compressed by gzip, xz or zstd, as its first bytes say, is read as its content
/// (DecompressedFile).
///
/// Takes as much memory as the content of the files, and up to twice as much of addresses where
/// some are compressed, for how much they hold shows only as they are read.
class ByteCorpus {
 public:
  /// A file that was read.
  struct File {
    std::string path;         ///< as people find it: a path that was given, or one below it
    std::int64_t bytes = 0;   ///< of its content, which is what it has in bytes()
    std::int64_t stored = 0;  ///< bytes on the disk: fewer, as a rule, where it is compressed
    Compression compression = Compression::none;  ///< of the file
  };
  using LeftOut = DataFiles::LeftOut;        ///< a path below a folder that was not read
  using Unreadable = DataFiles::Unreadable;  ///< what happens to paths that cannot be read
  /// What is trained on, and what is held out.
  struct Split {
    std::span<const unsigned char> train, validation;  ///< neighbours in bytes()
  };

  /// throws    what DataFiles does; FileError that names the path, for a file that cannot be read,
  ///           or is compressed and damaged or cut short; if all are empty; if there are more bytes
  ///           than the machine has memory
  explicit ByteCorpus(const std::vector<std::string>& paths,
                      Unreadable unreadable = Unreadable::refused);

  /// The bytes of all files, in the order of files().
  std::span<const unsigned char> bytes() const { return text; }
  /// The files, in the order in which they lie in bytes().
  const std::vector<File>& files() const { return read_files; }
  /// See DataFiles.
  const std::vector<LeftOut>& left_out() const { return found.left_out(); }
  /// Likewise.
  std::string left_out_text() const { return found.left_out_text(); }
  /// Likewise.
  std::string changed() const { return found.changed(); }

  /// Validation gets the last floor(share · size) bytes, training all before them.
  /// throws    ArgumentError unless 0 < share < 1, training fills a window of `context` (context +
  ///           1 bytes) and validation predicts at least one byte (2 bytes); it says how many
  ///           bytes there are and are needed
  Split split(double share, int context) const;

  /// Gives the memory of the text back; bytes() is then empty. All else stays as it is.
  void drop_text() { std::vector<unsigned char>().swap(text); }

 private:
  DataFiles found;
  std::vector<File> read_files;
  std::vector<unsigned char> text;
};

}  // namespace sinter
