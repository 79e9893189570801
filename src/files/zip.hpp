// SPDX-License-Identifier: Apache-2.0
// Zip archives, of which members are read from front to back.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sinter/files/io.hpp"

namespace sinter::detail {

/// A problem of a zip archive, in words that follow "Cannot read it: ", with what to do.
struct ZipProblem {
  std::string what;
};

/// A member, as the archive's directory describes it.
struct ZipMember {
  std::string name;
  std::uint64_t bytes = 0;   ///< of its content
  std::uint64_t stored = 0;  ///< as it lies in the archive
  std::uint64_t header = 0;  ///< where its header begins
  std::uint32_t crc = 0;     ///< of its content
  std::uint16_t method = 0;  ///< 0 if it is stored, 8 if it is deflated
  std::uint16_t flags = 0;   ///< bit 0 if it is encrypted
};

/// Reads the directory of an archive, also of zip64. Archives of several disks are refused.
/// throws    ZipProblem if it is cut short, damaged or refused; FileError if the disk fails
std::vector<ZipMember> zip_members(const InputFile& file);

/// Reads the content of a member from front to back, and checks its length and its CRC-32.
class ZipContent {
  struct State;
  std::unique_ptr<State> state;

 public:
  /// requires  the file outlives it
  /// throws    ZipProblem if the member is encrypted or compressed by another method than deflate, or
  ///           its header is not there
  ZipContent(const InputFile& file, ZipMember member);
  ~ZipContent();

  /// Number of bytes that have been read.
  std::uint64_t position() const;
  /// Copies the next `bytes` bytes, or fewer at the end. Returns their number.
  /// throws    ZipProblem for a member that is damaged
  std::size_t read(void* into, std::size_t bytes);
};

}  // namespace sinter::detail
