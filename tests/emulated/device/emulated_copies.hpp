// SPDX-License-Identifier: Apache-2.0
// Copies beside a stream of the emulated device: each is made as late as it may be, when somebody
// waits for it, so that where nobody does, what has changed meanwhile is copied.
#pragma once
#include <cstddef>
#include <cstring>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "emulated/device/emulated_memory.hpp"

namespace sinter::kernel::emulated {

/// Copies that were begun and are not made yet. Any thread may wait for them.
class LateCopies {
 public:
  struct Copy {
    std::span<const std::byte> from;
    std::byte* to;
  };

  void begin(const Copy& copy) {
    const std::scoped_lock lock(mutex);
    pending.push_back(copy);
  }
  void finish() {
    const std::scoped_lock lock(mutex);
    if (pending.empty()) return;
    const Opened memory;
    for (const Copy& copy : std::exchange(pending, {}))
      std::memcpy(copy.to, copy.from.data(), copy.from.size());
  }

 private:
  std::mutex mutex;
  std::vector<Copy> pending;
};

}  // namespace sinter::kernel::emulated
