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
/// so is a folder to which links lead a second time, which also ends loops; left_out() lists both.
/// A link to a file is read as that file.
///
/// Takes as much memory as the files have bytes.
class ByteCorpus {
 public:
  struct File {
    std::string path;
    std::int64_t bytes;
  };
  struct LeftOut {
    std::string path;
    std::string why;
  };
  struct Split {
    std::span<const unsigned char> train, validation;
  };

  /// throws    FileError that names the path, for what is missing, unreadable, a broken link, or
  ///           neither file nor folder (pipe, device, socket); for a folder without files; if all
  ///           files are empty; if there are more bytes than the machine has memory
  explicit ByteCorpus(const std::vector<std::string>& paths);

  std::span<const unsigned char> bytes() const { return text; }
  const std::vector<File>& files() const { return read_files; }
  const std::vector<LeftOut>& left_out() const { return left_out_paths; }

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
