// SPDX-License-Identifier: Apache-2.0
#include "hardware/cuda/argument_memory.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "hardware/cuda/queue.hpp"

namespace sinter::kernel {

ArgumentMemory::~ArgumentMemory() {
  for (const Block& block : blocks) {
    give_host_memory(block.host);
    give_memory(block.device);
  }
}

void ArgumentMemory::begin() {
  for (Block& block : blocks) block.used = 0;
  current = 0;
}

ArgumentMemory::Room ArgumentMemory::take(std::size_t bytes) {
  constexpr std::size_t alignment = 16;
  while (current < blocks.size() && blocks[current].used + bytes > blocks[current].bytes) ++current;
  if (current == blocks.size()) {
    const std::size_t size = std::max(block_bytes, bytes);
    const Block block{take_host_memory(size), take_memory(size), size, 0};
    blocks.push_back(block);
    if (!block.host || !block.device) throw std::bad_alloc();
  }
  Block& block = blocks[current];
  const std::size_t at = block.used;
  block.used = std::min((at + bytes + alignment - 1) / alignment * alignment, block.bytes);
  return {block.host + at, block.device + at};
}

const std::byte* ArgumentMemory::add(const void* from, std::size_t bytes) {
  const Room room = take(bytes);
  std::memcpy(room.host, from, bytes);
  return room.device;
}

void ArgumentMemory::send(Stream& stream) const {
  for (const Block& block : blocks)
    if (block.used > 0) send_bytes(stream, block.device, block.host, block.used);
}

}  // namespace sinter::kernel
