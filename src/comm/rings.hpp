// SPDX-License-Identifier: Apache-2.0
// Memory through which ranks that share it send bytes to each other.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "comm/count.hpp"
#include "comm/exchange.hpp"

namespace sinter::detail {

/// The state of a channel from one rank to another. Its room follows, which is used again and
/// again.
struct Ring {
  alignas(64) std::atomic<std::uint64_t> put;    ///< bytes, of all messages
  alignas(64) std::atomic<std::uint64_t> taken;  ///< of these

  std::byte* room() { return reinterpret_cast<std::byte*>(this + 1); }
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

/// A ring from each rank to each other one.
class Rings {
  std::byte* base = nullptr;
  std::int64_t ranks = 0, room = 0;

  std::int64_t each() const { return std::int64_t(sizeof(Ring)) + room; }

 public:
  /// The bytes of a ring's room, so that all of them take a few MiB.
  static std::int64_t room_of(int ranks);

  Rings() = default;
  Rings(std::byte* at, int of_ranks, std::int64_t of_room)
      : base(at), ranks(of_ranks), room(of_room) {}
  /// The bytes of all rings.
  std::size_t bytes() const { return std::size_t(ranks * ranks * each()); }
  /// Makes them anew, in memory that is aligned as a ring.
  void clear();
  Ring& ring(int from, int to) const {
    return *reinterpret_cast<Ring*>(base + (from * ranks + to) * each());
  }
  /// One rank's channel to another. It rings the bell of that rank when there is something to do.
  std::unique_ptr<Channel> channel(int from, int to, Count& bell) const;
};

}  // namespace sinter::detail
