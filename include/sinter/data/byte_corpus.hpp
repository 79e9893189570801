// SPDX-License-Identifier: Apache-2.0
// A text read as bytes from files and folders.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sinter/data/data_files.hpp"

namespace sinter {

/// Files whose bytes are in memory, one file after the other, without separators. Takes as much
/// memory as they have bytes.
class ByteCorpus : public DataFiles {
 public:
  /// What is trained on, and what is held out.
  struct Split {
    std::span<const unsigned char> train, validation;  ///< neighbours in bytes()
  };

  /// throws    what DataFiles does; FileError that names the path, for a file that cannot be read;
  ///           if there are more bytes than the machine has memory
  explicit ByteCorpus(const std::vector<std::string>& paths,
                      Unreadable unreadable = Unreadable::refused);

  /// The bytes of all files, in the order of files().
  std::span<const unsigned char> bytes() const { return text; }

  /// Validation gets the last floor(share · size) bytes, training all before them.
  /// throws    ArgumentError unless 0 < share < 1, training fills a window of `context` (context +
  ///           1 bytes) and validation predicts at least one byte (2 bytes); it says how many
  ///           bytes there are and are needed
  Split split(double share, int context) const;

 private:
  std::vector<unsigned char> text;
};

}  // namespace sinter
