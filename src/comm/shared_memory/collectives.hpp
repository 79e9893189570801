// SPDX-License-Identifier: Apache-2.0
// Transfers of all ranks of a host, through the buffer that they share.
#pragma once
#include <algorithm>
#include <span>
#include <vector>

#include "comm/ordered_sum.hpp"
#include "comm/shared_memory/segment.hpp"
#include "comm/volume.hpp"

namespace sinter::detail::shared_memory {

/// One rank's end of them. Each returns false if there is a failure.
class Collectives {
 protected:
  Segment& segment;
  const int me, all;
  RankState& mine;
  std::uint32_t chunks = 0;  // number of chunks transferred

 private:
  std::vector<void*> parts;  // of a chunk, the part that this rank sums, of each rank

 public:
  Collectives(Segment& shared, int rank)
      : segment(shared),
        me(rank),
        all(shared.ranks()),
        mine(shared.state(rank)),
        parts(std::size_t(all)) {}

  /// A part of the elements, in chunks: each rank stages what others sum, sums its own part of all,
  /// and takes the sums of the others' parts. Chunks take turns in two halves of the buffer: one is
  /// staged before the one before it is summed, so that ranks wait for each other less.
  template <class T>
  bool sum_all(T* data, std::int64_t count) {
    const std::int64_t size = room<T>();
    const auto chunk = [&](std::uint32_t number) { return chunk_of(number, data, count, size); };
    note<T>(Operation::all_reduce, count);
    return in_chunks(
        (count + size - 1) / size, [&](std::uint32_t c) { stage(chunk(c)); },
        [&](std::uint32_t c) { return sum_own_part(chunk(c), true) && take_sums(chunk(c)); });
  }
  /// Sums at the root, which alone takes the sums. The others wait until a chunk is summed, as then
  /// all ranks have read what is staged of it.
  template <class T>
  bool reduce(T* data, std::int64_t count, int root) {
    const std::int64_t size = room<T>();
    const auto chunk = [&](std::uint32_t number) { return chunk_of(number, data, count, size); };
    note<T>(Operation::reduce, count, root);
    return in_chunks((count + size - 1) / size, [&](std::uint32_t c) { stage(chunk(c)); },
                     [&](std::uint32_t c) {
                       if (!sum_own_part(chunk(c), me == root)) return false;
                       return me == root ? take_sums(chunk(c)) : have_all_summed(c);
                     });
  }
  /// The root stages what the others take next.
  template <class T>
  bool broadcast(T* data, std::int64_t count, int root) {
    const std::int64_t size = room<T>();
    const auto chunk = [&](std::uint32_t number) { return chunk_of(number, data, count, size); };
    const auto staged = [&](std::uint32_t number) {
      return reinterpret_cast<T*>(segment.staged(root, number));
    };
    note<T>(Operation::broadcast, count, root);
    return in_chunks((count + size - 1) / size,
                     [&](std::uint32_t c) {
                       if (me == root) std::copy_n(chunk(c).data, chunk(c).size, staged(c));
                       mine.staged.add_one();
                     },
                     [&](std::uint32_t c) {
                       if (!segment.await(&RankState::staged, root, c + 1)) return false;
                       if (me != root) take(staged(c), chunk(c).size, chunk(c).data);
                       return have_all_read(c);
                     });
  }
  /// Each rank stages of the others' parts what they sum next.
  template <class T>
  bool reduce_scatter(T* data, std::int64_t count) {
    const Parts<T> of{*this, data, count, room<T>() / all};
    note<T>(Operation::reduce_scatter, count);
    return in_chunks(
        of.pieces(), [&](std::uint32_t c) { stage_for_others(of, c); },
        [&](std::uint32_t c) {
          const auto [piece, size] = of.piece(me, c);
          for (int r = 0; r < all; ++r) {
            if (!segment.await(&RankState::staged, r, c + 1)) return false;
            parts[std::size_t(r)] = of.staged(r, c) + me * of.room;
          }
          parts[std::size_t(me)] = piece;
          has_read<T>((all - 1) * size);
          void* const to[]{piece};
          sum_in_order<T>(parts, to, size);
          return have_all_read(c);
        });
  }
  /// Stages parts for the others as reduce_scatter() does, and takes theirs unchanged.
  template <class T>
  bool all_to_all(T* data, std::int64_t count) {
    const Parts<T> of{*this, data, count, room<T>() / all};
    note<T>(Operation::all_to_all, count);
    return in_chunks(
        of.pieces(), [&](std::uint32_t c) { stage_for_others(of, c); },
        [&](std::uint32_t c) {
          for (int r = 0; r < all; ++r) {
            if (!segment.await(&RankState::staged, r, c + 1)) return false;
            const auto [piece, size] = of.piece(r, c);
            if (r != me) take(of.staged(r, c) + me * of.room, size, piece);
          }
          return have_all_read(c);
        });
  }
  /// Each rank stages of its own part what the others take next.
  template <class T>
  bool all_gather(T* data, std::int64_t count) {
    const Parts<T> of{*this, data, count, room<T>()};
    note<T>(Operation::all_gather, count);
    return in_chunks(
        of.pieces(),
        [&](std::uint32_t c) {
          const auto [piece, size] = of.piece(me, c);
          std::copy_n(piece, size, of.staged(me, c));
          mine.staged.add_one();
        },
        [&](std::uint32_t c) {
          for (int r = 0; r < all; ++r) {
            if (!segment.await(&RankState::staged, r, c + 1)) return false;
            const auto [piece, size] = of.piece(r, c);
            if (r != me) take(of.staged(r, c), size, piece);
          }
          return have_all_read(c);
        });
  }

 private:
  /// Elements that a rank's part of a chunk has room for.
  template <class T>
  std::int64_t room() const {
    return segment.chunk() / std::int64_t(sizeof(T));
  }
  template <class T>
  void note(Operation operation, std::int64_t count, int root = -1) {
    mine.count = count;
    mine.peer = root;
    mine.bytes = sizeof(T);
    mine.operation = operation;
  }
  /// Takes elements that another rank has put into the buffer.
  template <class T>
  static void take(const T* from, std::int64_t size, T* to) {
    std::copy_n(from, size, to);
    has_read<T>(size);
  }
  template <class T>
  static void has_read(std::int64_t elements) {
    bytes_from_others.fetch_add(elements * std::int64_t(sizeof(T)), std::memory_order_relaxed);
  }
  /// Goes through at least one chunk, so that all ranks meet. Stages each chunk before the previous
  /// one is taken.
  /// requires  take(c) returns when all ranks have read what is staged of chunk c
  bool in_chunks(std::int64_t count, const auto& stage, const auto& take) {
    const std::uint32_t first = chunks;
    const auto last = first + std::uint32_t(std::max<std::int64_t>(count, 1));
    stage(first);
    if (!all_transfer_the_same(first)) return false;
    for (std::uint32_t c = first; c != last; ++c) {
      if (c + 1 != last) stage(c + 1);
      if (!take(c)) return false;
    }
    chunks = last;
    return true;
  }
  /// Says that this rank has read what the others have staged of a chunk, and waits for them.
  bool have_all_read(std::uint32_t chunk) {
    mine.summed.add_one();
    return have_all_summed(chunk);
  }
  bool have_all_summed(std::uint32_t chunk) {
    for (int r = 0; r < all; ++r)
      if (!segment.await(&RankState::summed, r, chunk + 1)) return false;
    return true;
  }

  /// The ranks' parts of an array, in pieces that all ranks transfer at a time.
  template <class T>
  struct Parts {
    const Collectives& rank;
    T* data;
    std::int64_t count;
    std::int64_t room;  // elements of a piece

    std::int64_t begin(int r) const { return part_begin(count, r, rank.all); }
    /// The number of pieces of the largest part.
    std::int64_t pieces() const {
      const std::int64_t largest = (count + rank.all - 1) / rank.all;
      return (largest + room - 1) / room;
    }
    /// A rank's piece in a chunk; it may be empty.
    std::pair<T*, std::int64_t> piece(int r, std::uint32_t chunk) const {
      const std::int64_t size = begin(r + 1) - begin(r);
      const std::int64_t from = std::min(size, std::int64_t(chunk - rank.chunks) * room);
      return {data + begin(r) + from, std::min(room, size - from)};
    }
    T* staged(int r, std::uint32_t chunk) const {
      return reinterpret_cast<T*>(rank.segment.staged(r, chunk));
    }
  };

  /// Stages a piece of each other rank's part.
  template <class T>
  void stage_for_others(const Parts<T>& of, std::uint32_t c) {
    for (int r = 0; r < all; ++r) {
      const auto [piece, size] = of.piece(r, c);
      if (r != me) std::copy_n(piece, size, of.staged(me, c) + r * of.room);
    }
    mine.staged.add_one();
  }

  template <class T>
  struct Chunk {
    std::uint32_t number;
    T* data;
    std::int64_t size;  // elements
  };
  /// Returns a chunk of a transfer's array. All have the same number of elements, except the last.
  template <class T>
  Chunk<T> chunk_of(std::uint32_t number, T* data, std::int64_t count, std::int64_t size) const {
    const std::int64_t begin = std::int64_t(number - chunks) * size;
    return {number, data + begin, std::min(size, count - begin)};
  }
  /// The elements of a chunk before those that a rank sums.
  std::int64_t before(int rank, std::int64_t size) const { return size * rank / all; }

  template <class T>
  void stage(const Chunk<T>& chunk) {
    T* to = reinterpret_cast<T*>(segment.staged(me, chunk.number));
    const std::int64_t from = before(me, chunk.size), end = before(me + 1, chunk.size);
    std::copy_n(chunk.data, from, to);
    std::copy_n(chunk.data + end, chunk.size - end, to + end);
    mine.staged.add_one();
  }
  bool all_transfer_the_same(std::uint32_t chunk) {
    for (int r = 0; r < all; ++r) {
      if (!segment.await(&RankState::staged, r, chunk + 1)) return false;
      const RankState& other = segment.state(r);
      if (other.count == mine.count && other.bytes == mine.bytes &&
          other.operation == mine.operation && other.peer == mine.peer)
        continue;
      segment.fail(Failure::differs, r);
      return false;
    }
    return true;
  }
  /// `takes`: true if the sum also goes to this rank's array.
  template <class T>
  bool sum_own_part(const Chunk<T>& chunk, bool takes) {
    const std::int64_t from = before(me, chunk.size), end = before(me + 1, chunk.size);
    for (int r = 0; r < all; ++r) {
      if (!segment.await(&RankState::staged, r, chunk.number + 1)) return false;
      parts[std::size_t(r)] = reinterpret_cast<T*>(segment.staged(r, chunk.number)) + from;
    }
    parts[std::size_t(me)] = chunk.data + from;
    has_read<T>((all - 1) * (end - from));
    void* const to[]{reinterpret_cast<T*>(segment.sums(chunk.number)) + from, chunk.data + from};
    sum_in_order<T>(parts, std::span(to).first(takes ? 2 : 1), end - from);
    mine.summed.add_one();
    return true;
  }
  template <class T>
  bool take_sums(const Chunk<T>& chunk) {
    const T* sums = reinterpret_cast<const T*>(segment.sums(chunk.number));
    for (int r = 0; r < all; ++r) {
      if (r == me) continue;
      if (!segment.await(&RankState::summed, r, chunk.number + 1)) return false;
      const std::int64_t from = before(r, chunk.size), end = before(r + 1, chunk.size);
      take(sums + from, end - from, chunk.data + from);
    }
    return true;
  }
};

}  // namespace sinter::detail::shared_memory
