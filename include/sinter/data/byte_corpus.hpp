// A text read as bytes from files and folders.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sinter {

/// The bytes of files, one after the other without separators, in memory.
///
/// Arguments are read in the order in which they are given; one that is given twice is read twice.
/// A folder stands for all files below it, sorted by their path inside it, byte by byte ('/'
/// included, so "a-b" comes before "a/b").
///
/// Left out, and listed in left_out(), are below a folder: names that begin with '.' (an argument
/// itself may be hidden), and a folder that links lead to a second time, which also ends loops.
/// Links to files are read as the file they lead to.
///
/// Refused with a FileError that names the path: what is missing, unreadable, a broken link or
/// neither file nor folder (pipe, device, socket); a folder without files; files that are empty all
/// together; more bytes than the machine has memory.
///
/// Memory: as many bytes as the files have together.
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

  explicit ByteCorpus(const std::vector<std::string>& paths);

  std::span<const unsigned char> bytes() const { return text; }
  const std::vector<File>& files() const { return read_files; }
  const std::vector<LeftOut>& left_out() const { return left_out_paths; }

  /// Validation is the last floor(share · size) bytes, training all before. ArgumentError unless
  /// 0 < share < 1, and unless training fills a window of `context` (context + 1 bytes) and
  /// validation predicts at least one byte (2 bytes); it says how many bytes there are and are
  /// needed.
  Split split(double share, int context) const;

 private:
  std::vector<unsigned char> text;
  std::vector<File> read_files;
  std::vector<LeftOut> left_out_paths;
};

}  // namespace sinter
