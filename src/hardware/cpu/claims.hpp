// SPDX-License-Identifier: Apache-2.0
// The parts of a region that no thread has begun yet.
#pragma once
#include <atomic>
#include <cstdint>
#include <optional>

namespace sinter::kernel {

/// The parts of one thread in one region that no thread has taken, numbered from 0: the thread
/// takes them from the front, others from the back. It is one word, so that a part is taken once,
/// and only in the region that the taker means. (A taker would have to stand still for 2^32 regions
/// to confuse two.)
class alignas(128) Claims {
 public:
  /// The maximum number of parts.
  static constexpr int most = 0xffff;

  /// Opens a region: `parts` of them can be taken.
  /// requires  nothing is left of the region before; parts ≤ most
  void open(std::uint32_t region, int parts) { word.store(pack(region, 0, std::uint64_t(parts))); }
  /// The region that was opened last.
  std::uint32_t region(std::memory_order order = std::memory_order_acquire) const {
    return std::uint32_t(word.load(order) >> 32);
  }
  /// Takes the first part that is left of this region, or nothing.
  std::optional<int> take_first(std::uint32_t of) {
    return take(of, [&](std::uint64_t begin, std::uint64_t end, std::uint64_t& left) {
      left = pack(of, begin + 1, end);
      return int(begin);
    });
  }
  /// Takes the last part that is left of this region, or nothing.
  std::optional<int> take_last(std::uint32_t of) {
    return take(of, [&](std::uint64_t begin, std::uint64_t end, std::uint64_t& left) {
      left = pack(of, begin, end - 1);
      return int(end - 1);
    });
  }

 private:
  static constexpr std::uint64_t pack(std::uint32_t region, std::uint64_t begin,
                                      std::uint64_t end) {
    return std::uint64_t(region) << 32 | begin << 16 | end;
  }
  template <class Choose>
  std::optional<int> take(std::uint32_t of, const Choose& choose) {
    std::uint64_t old = word.load(std::memory_order_acquire), left = 0;
    for (;;) {
      const std::uint64_t begin = old >> 16 & most, end = old & most;
      if (std::uint32_t(old >> 32) != of || begin == end) return std::nullopt;
      const int part = choose(begin, end, left);
      if (word.compare_exchange_weak(old, left, std::memory_order_acq_rel,
                                     std::memory_order_acquire))
        return part;
    }
  }

  std::atomic<std::uint64_t> word{
      0};  // the region's number, the first part, the one after the last
};

}  // namespace sinter::kernel
