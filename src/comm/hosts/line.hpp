// SPDX-License-Identifier: Apache-2.0
// The hosts as a line, along which arrays go in chunks: in the order of the ranks and back.
#pragma once
#include <memory>
#include <vector>

#include "comm/hosts/control.hpp"
#include "comm/hosts/link.hpp"

namespace sinter::detail::hosts {

/// A part of an array that goes through the buffer of each host at a time.
struct Chunk {
  std::uint64_t number;  ///< of all that were transferred
  std::int64_t index;    ///< of this transfer's
};

/// The work on each chunk of a transfer. The ranks of a host share a buffer with a place for each
/// rank's contribution, and one for the result. The ranks own chunks in turn. The owner
/// communicates with the owners on the host before (up) and on the next one (down).
struct Job {
  Work work;
  std::int64_t chunks;

  Job(const Work& what, std::int64_t count) : work(what), chunks(count > 0 ? count : 1) {}
  virtual ~Job() = default;
  /// Puts this rank's part in its place.
  virtual void stage(const Chunk& chunk) = 0;
  /// Called by the owner when all ranks of the host have staged the chunk: starts to receive from
  /// up and from down.
  virtual void await_up(const Chunk& chunk) = 0;
  virtual void await_down(const Chunk& chunk) = 0;
  /// Called when data from up are there, or if there is no host above: computes with them, and
  /// sends down what belongs there.
  virtual void pass_down(const Chunk& chunk) = 0;
  /// Called when data from down are there: sends up what belongs there.
  virtual void pass_up(const Chunk& chunk) = 0;
  /// True if that is known only after pass_down().
  virtual bool goes_down_first() const = 0;
  /// As any rank, when the owner has all: takes its part.
  virtual void take(const Chunk& chunk) = 0;
};

/// One rank's place in the line.
class Line {
 public:
  static constexpr std::int32_t depth = 8;  ///< chunks that are on the way

  /// Connects with the hosts beside this one, and shares memory with the ranks of this one.
  /// requires  roster and control outlive it
  /// throws    Error if that does not succeed
  Line(const Roster& roster, Control& control, const World& world);

  /// Does a transfer. Returns false if the ranks cannot go on, which is then reported.
  [[nodiscard]] bool run(Job& job);

  int hosts() const { return roster.hosts(); }
  int host() const { return here; }
  /// The first rank of a host.
  int begin(int of_host) const { return roster.begins[std::size_t(of_host)]; }
  int locals() const { return begin(here + 1) - begin(here); }
  /// The number of this rank among those of its host.
  int local() const { return me - begin(here); }
  bool owns(const Chunk& chunk) const { return owner(chunk) == local(); }
  std::int64_t chunk_bytes() const { return segment->chunk(); }
  /// The places of a chunk in the buffer.
  std::byte* staged(int local_rank, const Chunk& chunk) const {
    return segment->staged(local_rank, std::uint32_t(chunk.number));
  }
  std::byte* result(const Chunk& chunk) const { return segment->sums(std::uint32_t(chunk.number)); }
  /// Room that its owner has for a chunk's elements in a wide type.
  std::byte* wide(const Chunk& chunk) const {
    return room.get() +
           std::size_t(chunk.number / std::uint64_t(lanes) % wide_rooms()) * wide_bytes();
  }

  /// The memory that the ranks of this host share.
  shared_memory::Segment& memory() const { return *segment; }
  /// True if a rank of this host has begun the transfer after the last one of this rank; and which.
  bool has_begun_next(int local_rank) const {
    return state(local_rank).staged.has_reached(std::uint32_t(transferred + 1));
  }
  Work work_of(int local_rank) const;

  Link up{}, down{};

 private:
  struct Note {  // goes before each chunk, in both directions
    std::uint64_t chunk = 0;
    Work work{};
    bool operator==(const Note&) const = default;
  };
  struct Side {                        // of a chunk
    Note note{};                       // of the other
    std::uint64_t noted = 0, has = 0;  // when its note has come, and all: numbers of the link
    std::uint64_t sent = 0;            // when all has gone there
    bool is_noted = false, passed = false;
  };
  struct Open {  // a chunk that this rank owns, and has not ended
    Chunk chunk{};
    Note mine{};
    Side up{}, down{};
  };

  const Roster& roster;
  Control& control;
  const int me, here, lanes;
  const std::chrono::milliseconds patience;
  std::unique_ptr<shared_memory::Segment> segment{};
  std::unique_ptr<std::byte[]> room{};
  std::vector<Open> open{};
  std::uint64_t opened = 0, ended = 0;  // of the chunks that this rank owns
  std::uint64_t transferred = 0;        // chunks of all
  Time last{};                          // time of progress
  bool fits = true;                     // true if all others do the same here

  int owner(const Chunk& chunk) const { return int(chunk.number % std::uint64_t(lanes)); }
  std::uint64_t wide_rooms() const { return std::uint64_t((depth + lanes - 1) / lanes + 1); }
  std::size_t wide_bytes() const { return 2 * std::size_t(chunk_bytes()); }
  shared_memory::RankState& state(int local_rank) const { return segment->state(local_rank); }

  Descriptor connect_with_up(Time end) const;
  Descriptor accept_from_down(Time end) const;
  bool begin(Job& job, const Chunk& chunk);
  bool end(Job& job);
  bool move(Job& job);
  bool pass(Job& job, Open& now, bool& down_waits, bool& up_waits);
  void check_note(const Open& now, Side& side, const Link& link, int rank);
  bool await_all(Job& job, Count shared_memory::RankState::* count, std::uint64_t want);
  bool await(Job& job, Count shared_memory::RankState::* count, int local_rank, std::uint64_t want);
  bool is_lost(int rank);
  int rank_of_up() const { return begin(here - 1) + local(); }
  int rank_of_down() const { return begin(here + 1) + local(); }
};

}  // namespace sinter::detail::hosts
