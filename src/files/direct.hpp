// SPDX-License-Identifier: Apache-2.0
// Writing past the page cache (O_DIRECT).
#pragma once
#include <fcntl.h>

#include <cstdlib>
#include <memory>
#include <new>

namespace sinter::detail {

/// A multiple of every disk's blocks: O_DIRECT asks it of addresses, sizes and places in the file.
constexpr std::size_t block_bytes = 4096;

/// Switches direct access on or off. Returns true if the file system can.
inline bool set_direct(int descriptor, bool direct) {
  const int flags = ::fcntl(descriptor, F_GETFL);
  return flags != -1 &&
         ::fcntl(descriptor, F_SETFL, direct ? flags | O_DIRECT : flags & ~O_DIRECT) == 0;
}

/// Memory that begins at a block.
class BlockBuffer {
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  std::unique_ptr<char, Free> owned;

 public:
  static constexpr std::size_t bytes = std::size_t(1) << 20;

  /// throws    std::bad_alloc
  BlockBuffer() : owned(static_cast<char*>(std::aligned_alloc(block_bytes, bytes))) {
    if (!owned) throw std::bad_alloc();
  }
  char* get() const { return owned.get(); }
};

}  // namespace sinter::detail
