// SPDX-License-Identifier: Apache-2.0
#include "comm/rings.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "comm/volume.hpp"

namespace sinter::detail {
namespace {

class RingChannel final : public Channel {
  Ring &out, &in;
  const std::uint64_t room;
  Count& bell;

 public:
  RingChannel(Ring& to, Ring& from, std::int64_t size, Count& other)
      : out(to), in(from), room(std::uint64_t(size)), bell(other) {}

  std::int64_t put(const std::byte* from, std::int64_t size) override {
    const std::uint64_t put = out.put.load();
    const std::uint64_t most = part(put, size, room - (put - out.taken.load()));
    if (most == 0) return 0;
    std::memcpy(out.room() + put % room, from, most);
    out.put.store(put + most);
    bell.add_one();
    return std::int64_t(most);
  }
  std::int64_t take(std::byte* to, std::int64_t size) override {
    const std::uint64_t taken = in.taken.load();
    const std::uint64_t most = part(taken, size, in.put.load() - taken);
    if (most == 0) return 0;
    std::memcpy(to, in.room() + taken % room, most);
    in.taken.store(taken + most);
    bell.add_one();
    bytes_from_others.fetch_add(std::int64_t(most), std::memory_order_relaxed);
    return std::int64_t(most);
  }
  std::uint64_t all_put() const override { return out.put.load(); }
  std::uint64_t all_taken() const override { return out.taken.load(); }

 private:
  /// How much is moved at a time: not beyond the end of the room, and a part of it, so that one end puts
  /// bytes there while the other takes those before.
  std::uint64_t part(std::uint64_t at, std::int64_t size, std::uint64_t there) const {
    return std::min({std::uint64_t(size), there, room - at % room, room / 4});
  }
};

}  // namespace

std::int64_t Rings::room_of(int ranks) {
  return std::clamp<std::int64_t>((4 << 20) / ranks / ranks / 64 * 64, 512, 256 << 10);
}

void Rings::clear() {
  for (std::int64_t k = 0; k < ranks * ranks; ++k) new (base + k * each()) Ring{};
}

std::unique_ptr<Channel> Rings::channel(int from, int to, Count& bell) const {
  return std::make_unique<RingChannel>(ring(from, to), ring(to, from), room, bell);
}

}  // namespace sinter::detail
