// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>

namespace sinter::detail {

/// Counts how often a rank has done something; wraps around. Other ranks wait for it, in the same
/// process or in another one that shares the memory.
struct alignas(64) Count {
  std::atomic<std::uint32_t> done, sleepers;

  bool has_reached(std::uint32_t want) const { return std::int32_t(done.load() - want) >= 0; }
  void add_one();
  void wake();
  /// Returns when the count is no longer `seen`, or after some time, or by chance.
  void sleep(std::uint32_t seen, std::chrono::milliseconds at_most);
};

}  // namespace sinter::detail
