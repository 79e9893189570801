// SPDX-License-Identifier: Apache-2.0
// Files that are read once, from front to back, and may be pipes or standard input.
#pragma once
#include <string>

#include "sinter/files/io.hpp"

namespace sinter::detail::cli {

/// A file, a pipe, or standard input if the path is "-".
class Input {
 public:
  /// throws    FileError if it is a folder, or cannot be opened
  explicit Input(const std::string& path);

  /// Copies the next bytes to `into`, at most `bytes`, and waits until a pipe has some. Returns their
  /// number; 0 at the end.
  /// throws    FileError; Error if a signal asks to stop while a pipe has nothing
  std::size_t read(char* into, std::size_t bytes) const;
  /// The name of the file, for messages.
  const std::string& name() const { return name_; }

 private:
  std::string name_;
  Descriptor file_;
};

/// All that an Input gives.
/// throws    what Input throws
std::string read_input(const std::string& path);

}  // namespace sinter::detail::cli
