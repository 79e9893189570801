// SPDX-License-Identifier: Apache-2.0
// The memory that the ranks of a host share: what each has done, and a bounded buffer through which
// transfers go.
#pragma once
#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "comm/rings.hpp"
#include "comm/shared_memory/lookout.hpp"
#include "sinter/comm/shared_memory.hpp"

namespace sinter::detail::shared_memory {

/// Owns a file descriptor. (That of files/ is not a part of the executor, as ranks are.)
class Descriptor {
  int value = -1;

 public:
  Descriptor() = default;
  explicit Descriptor(int open) : value(open) {}
  Descriptor(Descriptor&& other) noexcept : value(std::exchange(other.value, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(value, other.value);
    return *this;
  }
  ~Descriptor();
  int get() const { return value; }
  /// Releases the descriptor without closing it.
  int release() { return std::exchange(value, -1); }
};

/// "0.5 s"
std::string seconds(std::chrono::milliseconds time);
/// "rank 1 (process 4711 on this host's name)"
std::string rank_name(int rank, int process);

/// The state that a rank shows to the others.
struct RankState {
  Count staged;  ///< chunks whose parts for others it has put into the buffer
  Count
      summed;  ///< chunks of which it has put the sum of its own part there, or read what it needs
  Count scalars;  ///< values that it has put below
  Count
      bell;  ///< how often it had to look around: something was sent to it, or taken of what it sent
  double values[2][Communicator::max_values];
  std::int64_t count;  ///< of the elements of its transfer, before it stages the first chunk
  std::int32_t bytes;  ///< of an element
  std::int32_t peer;   ///< of its transfer; -1 if there is none
  Operation operation;
  std::atomic<std::int32_t> awaits{
      -1};         ///< the rank whose send or receive it waits for; -1 if for none
  Mismatch wrong;  ///< in a message to it, if there is one
  std::int32_t process;
};

/// Why the ranks cannot go on. The first reason stays, unless it is that a rank has stopped, and a later one
/// says how ranks do not fit together.
struct Failure {
  enum Kind : std::uint16_t { none, died, stalled, suspended, stopped, differs, unmatched };
  Kind kind = none;
  std::uint16_t rank = 0;
};

constexpr int max_ranks = 1024;
constexpr std::chrono::milliseconds look_around{100};  ///< at most so long, a death is not noticed
/// A rank that is stopped for longer is given up.
constexpr std::chrono::milliseconds max_suspended{3500};
constexpr std::uint32_t layout_version = 7;

/// The layout of a segment's buffer.
struct Layout {
  std::int32_t ranks;
  std::int32_t depth;  ///< chunks that take turns
  std::int64_t chunk;  ///< bytes
  std::int64_t ring;   ///< bytes, of what goes from one rank to another

  /// What a rank reads and writes of a chunk fits into its second cache; all of them take a few MiB.
  static Layout of(int ranks);
  bool operator==(const Layout&) const = default;
};

/// The beginning of the segment. The states of the ranks follow, then for each of the chunks that take
/// turns a part for each rank, and one for their sum, and a ring from each rank to each other one.
struct alignas(64) Header {
  char magic[8];
  std::uint32_t version;
  Layout layout;
  std::atomic<std::uint32_t> failure;
};
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

/// The segment as this process sees it.
class Segment {
  Descriptor file;
  std::byte* base = nullptr;
  std::size_t size = 0;
  std::vector<Descriptor> processes;  // of the ranks; they can be polled for their end
  Lookout lookout;
  std::chrono::milliseconds patience{};
  int me = 0;

 public:
  /// Makes one without a name in any file system.
  explicit Segment(const Layout& layout);
  /// Maps that which another process has made.
  /// throws    Error if it has another layout
  Segment(Descriptor made, const Layout& layout);
  ~Segment();
  Segment(const Segment&) = delete;

  int descriptor() const { return file.get(); }
  int ranks() const { return header().layout.ranks; }
  std::int64_t chunk() const { return header().layout.chunk; }
  RankState& state(int rank) const;
  /// The place for a rank's part of a chunk.
  std::byte* staged(int rank, std::uint32_t chunk) const { return area(rank, chunk); }
  /// The place for the sum.
  std::byte* sums(std::uint32_t chunk) const { return area(ranks(), chunk); }

  /// A rank's channels to the others, which live as long as the segment.
  Channels channels(int rank) const;

  /// Begins to watch the processes of all ranks.
  /// throws    RankError if one has died already
  void watch(int rank, std::chrono::milliseconds progress);
  /// Waits until a count of a rank reaches a number. Returns false if there is a failure: the rank
  /// has died or does not go on, unless another failure was seen first.
  [[nodiscard]] bool await(Count RankState::* count, int rank, std::uint32_t want);
  /// Why nothing more is to be expected of what a rank sends or receives; none if there is a chance. `last`:
  /// when there was progress.
  Failure::Kind missing(int rank, std::chrono::steady_clock::time_point last);
  /// Who is to blame if this rank waits in vain for another, which may wait for a third.
  int culprit(int rank) const;
  /// True if sends and receives should end: ranks have failed, or one has left and there was no
  /// progress for a second.
  bool is_hopeless(std::chrono::steady_clock::time_point last) const;
  /// Notes why the ranks cannot go on, and wakes all that wait.
  void fail(Failure::Kind kind, int rank) noexcept;
  /// Throws the RankError that says why this rank cannot go on.
  [[noreturn]] void throw_failure() const;

 private:
  Header& header() const { return *reinterpret_cast<Header*>(base); }
  Failure failure() const;
  std::byte* area(int part, std::uint32_t chunk) const;
  Rings rings() const;
  bool has_died(int rank) const;
  Failure::Kind loss_of(int rank, std::chrono::steady_clock::time_point since);
  std::string name(int rank) const { return rank_name(rank, state(rank).process); }
  void map();
};

}  // namespace sinter::detail::shared_memory
