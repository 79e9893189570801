// SPDX-License-Identifier: Apache-2.0
// The files that data paths name.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace sinter {

/// Finds files of data, and reads none of them.
///
/// Paths are taken in the order in which they are given; one that is given twice counts twice.
/// A folder stands for all files below it, sorted by their path inside it, byte by byte ('/'
/// included, so "a-b" comes before "a/b").
///
/// Below a folder, names that begin with '.' are left out (a path that is given may be hidden), and
/// so are folders of runs and checkpoints (run_mark.hpp, checkpoint.hpp), so that no run learns
/// what another has written, and a folder to which links lead a second time, which also ends loops;
/// left_out() lists them all. A link to a file is taken as that file.
class DataFiles {
 public:
  /// A file.
  struct File {
    std::string path;       ///< as people find it: a path that was given, or one below it
    std::int64_t bytes;     ///< its size on the disk
    std::int64_t modified;  ///< when, in nanoseconds since 1970
  };
  /// A path below a folder that was not taken.
  struct LeftOut {
    std::string path;  ///< likewise
    std::string why;   ///< the reason, in words that follow the path
  };

  /// What happens to paths below a folder that cannot be read, are links that lead nowhere, or are
  /// neither file nor folder (pipe, device, socket).
  enum class Unreadable { refused, left_out };

  /// throws    FileError that names the path, for what is missing, a broken link, or neither file
  ///           nor folder, unless it is left out; for a path that is the folder of a run or a
  ///           checkpoint; for a folder without files; if all files are empty
  explicit DataFiles(const std::vector<std::string>& paths,
                     Unreadable unreadable = Unreadable::refused);

  /// The files, in order; at least one.
  const std::vector<File>& files() const { return found; }
  /// Of all files together, at least 1.
  std::int64_t total_bytes() const { return total; }
  /// What was left out, in the order in which it was found.
  const std::vector<LeftOut>& left_out() const { return left_out_paths; }
  /// Says for people what was left out: a line for each reason, with the first path and how many
  /// more there are. Empty if nothing was.
  std::string left_out_text() const;
  /// Names the first file that is no longer as it was when it was found, by its size and its time
  /// of change, and says what has changed; empty if none has.
  std::string changed() const;

 private:
  std::vector<File> found;
  std::vector<LeftOut> left_out_paths;
  std::int64_t total = 0;
};

}  // namespace sinter
