// SPDX-License-Identifier: Apache-2.0
// The data that go along the line of hosts, for each kind of transfer.
#pragma once
#include <algorithm>
#include <utility>
#include <vector>

#include "comm/hosts/line.hpp"
#include "comm/ordered_sum.hpp"

namespace sinter::detail::hosts {

/// How the elements of a transfer are divided into chunks: one after the other, or so that each chunk has
/// a piece of each rank's part, in the order of the ranks.
template <class T>
struct Pieces {
  T* data;
  std::int64_t count;
  std::int64_t room;    // elements of a chunk
  int ranks;            // that have parts; 0 if none has
  std::int64_t slot{};  // elements of a piece that a chunk has room for

  Pieces(T* all, std::int64_t elements, const Line& line, int of_ranks)
      : data(all),
        count(elements),
        room(line.chunk_bytes() / std::int64_t(sizeof(T))),
        ranks(of_ranks) {
    if (ranks) slot = room / ranks;
  }
  std::int64_t largest() const { return (count + ranks - 1) / ranks; }
  std::int64_t chunks() const {
    return ranks ? (largest() + slot - 1) / slot : (count + room - 1) / room;
  }
  /// Elements of a chunk or, if there are parts, of a piece of it.
  std::int64_t size(const Chunk& c) const {
    return ranks ? ranks * piece_room(c)
                 : std::clamp<std::int64_t>(count - c.index * room, 0, room);
  }
  std::int64_t piece_room(const Chunk& c) const {
    return std::clamp<std::int64_t>(largest() - c.index * slot, 0, slot);
  }
  T* begin(const Chunk& c) const { return data + c.index * room; }
  /// A rank's piece, which may be smaller than there is room for.
  std::pair<T*, std::int64_t> piece(const Chunk& c, int rank) const {
    const std::int64_t from = part_begin(count, rank, ranks);
    const std::int64_t size = part_begin(count, rank + 1, ranks) - from;
    const std::int64_t done = std::min(size, c.index * slot);
    return {data + from + done, std::min(piece_room(c), size - done)};
  }
};

template <class T>
Work work_of(Operation operation, std::int64_t count, int root = -1) {
  return {count, int(sizeof(T)), root, int(operation), 0};
}

/// Sums go down the line, each host adding what its ranks have, and come back up, as far as they are
/// needed. So each is one chain in the order of the ranks, of which a host sends and receives one number in
/// each direction, however many ranks it has.
template <class T>
class SumJob final : public Job {
  using Wide = kernel::Wide<T>;
  Line& line;
  const Pieces<T> pieces;
  const int root_host;  // -1: all
  const bool takes;     // this rank does, or the ranks have parts
  std::vector<const void*>& sources;

 public:
  SumJob(Line& of, const Work& what, const Pieces<T>& divided, int me, int root,
         std::vector<const void*>& room)
      : Job(what, divided.chunks()),
        line(of),
        pieces(divided),
        root_host(root),
        takes(what.peer < 0 || what.peer == me),
        sources(room) {}

  void stage(const Chunk& c) override {
    if (has_parts()) {
      for (int r = 0; r < pieces.ranks; ++r) {
        const auto [from, size] = pieces.piece(c, r);
        std::copy_n(from, size, at(line.staged(line.local(), c)) + r * pieces.piece_room(c));
      }
    } else if (!line.owns(c)) {  // the owner reads its own in place
      std::copy_n(pieces.begin(c), pieces.size(c), at(line.staged(line.local(), c)));
    }
  }
  void await_up(const Chunk& c) override {
    line.up.receive(line.wide(c), std::size_t(pieces.size(c)) * sizeof(Wide));
  }
  void await_down(const Chunk& c) override {
    line.down.receive(line.result(c), back(c, line.host()));
  }
  void pass_down(const Chunk& c) override {
    Wide* const sums = reinterpret_cast<Wide*>(line.wide(c));
    const std::int64_t size = pieces.size(c);
    if (!line.up.is_there()) std::fill_n(sums, size, Wide(0));
    for (int r = 0; r < line.locals(); ++r)
      sources[std::size_t(r)] = !has_parts() && r == line.local()
                                    ? static_cast<const void*>(pieces.begin(c))
                                    : line.staged(r, c);
    add_in_order<T>(std::span(sources).first(std::size_t(line.locals())), sums, size);
    if (line.down.is_there()) {
      line.down.send(sums, std::size_t(size) * sizeof(Wide));
    } else {
      std::transform(sums, sums + size, at(line.result(c)), [](Wide sum) { return T(sum); });
    }
  }
  void pass_up(const Chunk& c) override {
    if (line.up.is_there()) line.up.send(line.result(c), back(c, line.host() - 1));
  }
  bool goes_down_first() const override { return true; }
  void take(const Chunk& c) override {
    if (!takes) return;
    const T* sums = at(line.result(c));
    if (has_parts()) {
      const int me = line.begin(line.host()) + line.local();
      const auto [to, size] = pieces.piece(c, me);
      std::copy_n(sums + me * pieces.piece_room(c), size, to);
    } else {
      std::copy_n(sums, pieces.size(c), pieces.begin(c));
    }
  }

 private:
  static T* at(std::byte* place) { return reinterpret_cast<T*>(place); }
  bool has_parts() const { return pieces.ranks > 0; }
  /// Bytes of the sums that go up to a host: what it, or a host before it, needs.
  std::size_t back(const Chunk& c, int host) const {
    const std::int64_t size = has_parts()        ? line.begin(host + 1) * pieces.piece_room(c)
                              : root_host > host ? 0
                                                 : pieces.size(c);
    return std::size_t(size) * sizeof(T);
  }
};

/// Sends each host's part down and up the line, past all others.
template <class T>
class SpreadJob final : public Job {
  Line& line;
  const Pieces<T> pieces;
  const int root;  // the rank that has all, or -1: each has a part

 public:
  SpreadJob(Line& of, const Work& what, const Pieces<T>& divided)
      : Job(what, divided.chunks()), line(of), pieces(divided), root(what.peer) {}

  void stage(const Chunk& c) override {
    if (root >= 0 && root != rank()) return;
    const auto [from, size] =
        root < 0 ? pieces.piece(c, rank()) : std::pair(pieces.begin(c), pieces.size(c));
    std::copy_n(from, size, reinterpret_cast<T*>(line.staged(line.local(), c)));
  }
  void await_up(const Chunk& c) override {
    line.up.receive(line.result(c), before(c, line.host()));
  }
  void await_down(const Chunk& c) override {
    const std::size_t from = before(c, line.host() + 1);
    line.down.receive(line.result(c) + from, before(c, line.hosts()) - from);
  }
  void pass_down(const Chunk& c) override {
    if (!line.down.is_there()) return;
    line.down.send(line.result(c), before(c, line.host()));
    send_own(line.down, c);
  }
  void pass_up(const Chunk& c) override {
    if (!line.up.is_there()) return;
    send_own(line.up, c);
    const std::size_t from = before(c, line.host() + 1);
    line.up.send(line.result(c) + from, before(c, line.hosts()) - from);
  }
  bool goes_down_first() const override { return false; }
  void take(const Chunk& c) override {
    if (root >= 0) {
      if (root != rank()) std::copy_n(place(c, root, 0), pieces.size(c), pieces.begin(c));
      return;
    }
    for (int r = 0; r < pieces.ranks; ++r) {
      const auto [to, size] = pieces.piece(c, r);
      if (r != rank()) std::copy_n(place(c, r, r * pieces.piece_room(c)), size, to);
    }
  }

 private:
  int rank() const { return line.begin(line.host()) + line.local(); }
  bool is_here(int r) const {
    return r >= line.begin(line.host()) && r < line.begin(line.host() + 1);
  }
  /// Returns where a rank's contribution lies: in its own place or, for another host's, where it
  /// was received.
  const T* place(const Chunk& c, int r, std::int64_t first) const {
    return is_here(r) ? reinterpret_cast<const T*>(line.staged(r - line.begin(line.host()), c))
                      : reinterpret_cast<const T*>(line.result(c)) + first;
  }
  /// Bytes of a chunk that hosts before this one bring.
  std::size_t before(const Chunk& c, int host) const {
    const std::int64_t size = root >= 0 ? (root < line.begin(host) ? pieces.size(c) : 0)
                                        : line.begin(host) * pieces.piece_room(c);
    return std::size_t(size) * sizeof(T);
  }
  void send_own(Link& link, const Chunk& c) const {
    if (root >= 0) {
      if (is_here(root)) link.send(place(c, root, 0), std::size_t(pieces.size(c)) * sizeof(T));
      return;
    }
    for (int r = 0; r < line.locals(); ++r)
      link.send(line.staged(r, c), std::size_t(pieces.piece_room(c)) * sizeof(T));
  }
};

}  // namespace sinter::detail::hosts
