// SPDX-License-Identifier: Apache-2.0
// What the host tells a graph: memory of the host, and as much of the device, to which it is copied
// in each run before the graph is launched.
#pragma once
#include <cstddef>
#include <vector>

namespace sinter::kernel {

class Stream;

/// Blocks of memory, more of them where more is told. What is told in the same order and sizes in
/// each run lies at the same places.
class ToldMemory {
 public:
  static constexpr std::size_t block_bytes = std::size_t{256} << 10;

  ToldMemory() = default;
  ToldMemory(const ToldMemory&) = delete;
  ToldMemory& operator=(const ToldMemory&) = delete;
  ~ToldMemory();

  /// Begins a run, in which nothing is told yet.
  /// requires  the copies of the run before are done
  void begin();
  /// Where the host puts what it tells, and where that will be in the device's memory.
  struct Room {
    std::byte* host;
    const std::byte* device;
  };
  /// Takes room, which is filled before send().
  /// throws    std::bad_alloc if there is no memory for it
  Room take(std::size_t bytes);
  /// Takes what is told. Returns where it will be in the device's memory.
  /// throws    std::bad_alloc if there is no memory for it
  const std::byte* add(const void* from, std::size_t bytes);
  /// Copies all that was told in this run to the device, in the order of the stream.
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
