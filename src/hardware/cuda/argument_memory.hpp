// SPDX-License-Identifier: Apache-2.0
// Memory for the arguments that a graph's kernels get anew in each run: a buffer of the host, and one of the
// device, to which it is copied before the graph is launched.
#pragma once
#include <cstddef>
#include <vector>

namespace sinter::kernel {

class Stream;

/// Blocks of memory, whose number grows with the arguments. Arguments that come in the same order and sizes
/// in each run lie at the same places.
class ArgumentMemory {
 public:
  static constexpr std::size_t block_bytes = std::size_t{256} << 10;

  ArgumentMemory() = default;
  ArgumentMemory(const ArgumentMemory&) = delete;
  ArgumentMemory& operator=(const ArgumentMemory&) = delete;
  ~ArgumentMemory();

  /// Begins a run, which has no arguments yet.
  /// requires  the copies of the run before are done
  void begin();
  /// A place for arguments in the host's memory, and where they will be in the device's.
  struct Room {
    std::byte* host;
    const std::byte* device;
  };
  /// Takes room, which is filled before send().
  /// throws    std::bad_alloc if there is no memory for it
  Room take(std::size_t bytes);
  /// Copies an argument. Returns where it will be in the device's memory.
  /// throws    std::bad_alloc if there is no memory for it
  const std::byte* add(const void* from, std::size_t bytes);
  /// Copies all arguments of this run to the device, in the order of the stream.
  void send(Stream& stream) const;

 private:
  struct Block {
    std::byte *host, *device;
    std::size_t bytes, used;
  };
  std::vector<Block> blocks;
  std::size_t current = 0;
};

}  // namespace sinter::kernel
