// SPDX-License-Identifier: Apache-2.0
// A text read as bytes from files and folders.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sinter {

/// Holds the bytes of files in memory, one file after the other, without separators.
///
/// Paths are read in the order in which they are given; one that is given twice is read twice.
/// A folder stands for all files below it, sorted by their path inside it, byte by byte ('/'
/// included, so "a-b" comes before "a/b").
///
/// Below a folder, names that begin with '.' are left out (a path that is given may be hidden), and
/// so are folders of runs and checkpoints (run_mark.hpp, checkpoint.hpp), so that no run learns
/// what another has written, and a folder to which links lead a second time, which also ends loops;
/// left_out() lists them all. A link to a file is read as that file.
///
/// Takes as much memory as the files have bytes.
class ByteCorpus {
 public:
  /// A file that was read.
  struct File {
    std::string path;  ///< as people find it: a path that was given, or one below it
    std::int64_t bytes;
    std::int64_t modified = 0;  ///< when, in nanoseconds since 1970, as the file was opened
  };
  /// A path below a folder that was not read.
  struct LeftOut {
    std::string path;  ///< likewise
    std::string why;   ///< the reason, in words that follow the path
  };
  /// What is trained on, and what is held out.
  struct Split {
    std::span<const unsigned char> train, validation;  ///< neighbours in bytes()
  };

  /// What happens to paths below a folder that cannot be read, are links that lead nowhere, or are
  /// neither file nor folder (pipe, device, socket).
  enum class Unreadable { refused, left_out };

  /// throws    FileError that names the path, for what is missing, unreadable, a broken link, or
  ///           neither file nor folder, unless it is left out; for a path that is the folder of a
  ///           run or a checkpoint; for a folder without files; if all files are empty; if there
  ///           are more bytes than the machine has memory
  explicit ByteCorpus(const std::vector<std::string>& paths,
                      Unreadable unreadable = Unreadable::refused);

  /// The bytes of all files.
  std::span<const unsigned char> bytes() const { return text; }
  /// The files, in the order in which they lie in bytes().
  const std::vector<File>& files() const { return read_files; }
  /// What was left out, in the order in which it was found.
  const std::vector<LeftOut>& left_out() const { return left_out_paths; }
  /// Says for people what was left out: a line for each reason, with the first path and how many
  /// more there are. Empty if nothing was.
  std::string left_out_text() const;
  /// Names the first file that is no longer as it was when it was read, by its size and its time of
  /// change, and says what has changed; empty if none has.
  std::string changed() const;

  /// Validation gets the last floor(share · size) bytes, training all before them.
  /// throws    ArgumentError unless 0 < share < 1, training fills a window of `context` (context +
  ///           1 bytes) and validation predicts at least one byte (2 bytes); it says how many
  ///           bytes there are and are needed
  Split split(double share, int context) const;

 private:
  std::vector<unsigned char> text;
  std::vector<File> read_files;
  std::vector<LeftOut> left_out_paths;
};

}  // namespace sinter
