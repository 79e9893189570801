// SPDX-License-Identifier: Apache-2.0
#include "emulated/device/emulated_memory.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <iterator>
#include <map>
#include <mutex>

namespace sinter::kernel::emulated {
namespace {

struct Memory {
  std::mutex mutex;
  std::map<std::byte*, std::size_t> parts;
  int opened = 0;

  std::int64_t left() const {
    const char* given = std::getenv("SINTER_TEST_CARD_BYTES");
    std::int64_t bytes = given ? std::atoll(given) : std::int64_t{16} << 30;
    for (const auto& [at, taken] : parts) bytes -= std::int64_t(taken);
    return bytes;
  }
  int protection() const { return opened ? PROT_READ | PROT_WRITE : PROT_NONE; }
  void protect() {
    for (auto [at, bytes] : parts) mprotect(at, bytes, protection());
  }
};

Memory& memory() {
  static Memory all;
  return all;
}

}  // namespace

std::int64_t bytes_left() {
  Memory& all = memory();
  const std::scoped_lock lock(all.mutex);
  return all.left();
}

std::byte* take(std::size_t bytes) {
  Memory& all = memory();
  const std::scoped_lock lock(all.mutex);
  if (bytes == 0) bytes = 1;
  if (std::int64_t(bytes) > all.left()) return nullptr;
  void* at =
      mmap(nullptr, bytes, all.protection(), MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return nullptr;
  all.parts[static_cast<std::byte*>(at)] = bytes;
  return static_cast<std::byte*>(at);
}

void give(std::byte* at) {
  Memory& all = memory();
  const std::scoped_lock lock(all.mutex);
  const auto part = all.parts.find(at);
  if (part == all.parts.end()) return;
  munmap(at, part->second);
  all.parts.erase(part);
}

bool on_device(const void* at) {
  Memory& all = memory();
  const std::scoped_lock lock(all.mutex);
  auto* byte = static_cast<std::byte*>(const_cast<void*>(at));
  const auto behind = all.parts.upper_bound(byte);
  if (behind == all.parts.begin()) return false;
  const auto& [begin, bytes] = *std::prev(behind);
  return byte < begin + bytes;
}

Opened::Opened() {
  Memory& all = memory();
  const std::scoped_lock lock(all.mutex);
  if (all.opened++ == 0) all.protect();
}

Opened::~Opened() {
  Memory& all = memory();
  const std::scoped_lock lock(all.mutex);
  if (--all.opened == 0) all.protect();
}

}  // namespace sinter::kernel::emulated
