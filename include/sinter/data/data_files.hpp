// SPDX-License-Identifier: Apache-2.0
// The files that data paths name.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace sinter {

/// Finds data files, and reads none of them.
///
/// Paths are taken in the order in which they are given; one that is given twice counts twice. A
/// folder stands for all files below it, sorted by their path inside it, byte by byte ('/'
/// included, so "a-b" comes before "a/b"). A link to a file is taken as that file.
///
/// Below a folder, left_out() lists what is not taken: names that begin with '.' (a given path may
/// be hidden), and folders of runs and checkpoints (run_mark.hpp, checkpoint.hpp), so that no run
/// learns what another has written. A folder that links reach a second time is also left out, which
/// ends loops.
class DataFiles {
 public:
  /// A file.
  struct File {
    std::string path;       ///< for messages: a path that was given, or one below it
    std::int64_t bytes;     ///< size on the disk
    std::int64_t modified;  ///< time of change, in nanoseconds since 1970
  };
  /// A path below a folder that was not taken.
  struct LeftOut {
    std::string path;  ///< for messages: a path that was given, or one below it
    std::string why;   ///< the reason, in words that follow the path
  };

  /// What happens to a path below a folder that cannot be read, is a broken link, or is neither
  /// file nor folder (pipe, device, socket).
  enum class Unreadable { refused, left_out };

  /// throws    FileError that names the path, if it is missing, a broken link, or neither file nor
  ///           folder, unless it is left out; if it is the folder of a run or a checkpoint; if a
  ///           folder has no files; if all files are empty
  explicit DataFiles(const std::vector<std::string>& paths,
                     Unreadable unreadable = Unreadable::refused);

  /// The files, in order; at least one.
  const std::vector<File>& files() const { return found; }
  /// Size of all files together, at least 1.
  std::int64_t total_bytes() const { return total; }
  /// The paths that were left out, in the order in which they were found.
  const std::vector<LeftOut>& left_out() const { return left_out_paths; }
  /// Describes what was left out: a line for each reason, with the first path and the number of
  /// further ones. Empty if nothing was left out.
  std::string left_out_text() const;
  /// Names the first file whose size or time of change is no longer as it was found, and what has
  /// changed. Empty if no file has changed.
  std::string changed() const;

 private:
  std::vector<File> found;
  std::vector<LeftOut> left_out_paths;
  std::int64_t total = 0;
};

}  // namespace sinter
