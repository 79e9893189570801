// SPDX-License-Identifier: Apache-2.0
// A rank whose transfers go through memory that it shares with the others.
#include <sys/random.h>

#include <algorithm>

#include "comm/facts.hpp"
#include "comm/group_world.hpp"
#include "comm/queued_rank.hpp"
#include "comm/shared_memory/collectives.hpp"
#include "comm/shared_memory/gather.hpp"
#include "hardware/cpu/sleeper.hpp"
#include "sinter/error.hpp"

namespace sinter {
using namespace detail;
namespace {

using shared_memory::Collectives;
using shared_memory::Failure;
using shared_memory::RankState;
using shared_memory::Segment;

class SharedMemoryRank final : public QueuedRank<SharedMemoryRank>, private Collectives {
  const World world;
  const std::unique_ptr<Segment> owned;
  const Channels channels;
  GroupWorlds groups;
  std::uint32_t sums = 0;  // number of values summed

 public:
  SharedMemoryRank(const World& w, std::unique_ptr<Segment> gathered)
      : Collectives(*gathered, w.rank),
        world(w),
        owned(std::move(gathered)),
        channels(segment.channels(w.rank)) {
    begin_transfers(channels);
  }
  ~SharedMemoryRank() override {
    abort();
    end_transfers();
  }

  int rank() const override { return me; }
  int ranks() const override { return all; }
  void sum(double* values, int count) override {
    // Who writes values has seen all others' last ones, and so they have read the ones before.
    std::copy_n(values, count, mine.values[sums % 2]);
    mine.scalars.add_one();
    std::fill_n(values, count, 0);
    for (int r = 0; r < all; ++r) {
      if (!segment.await(&RankState::scalars, r, sums + 1)) lost();
      for (int k = 0; k < count; ++k) values[k] += segment.state(r).values[sums % 2][k];
    }
    ++sums;
  }
  void abort() noexcept override { segment.fail(Failure::stopped, me); }

 private:
  friend class QueuedRank<SharedMemoryRank>;

  [[noreturn]] void lost() const { segment.throw_failure(); }

  std::unique_ptr<Communicator> make_group(std::span<const int> members, int rank) override {
    double nothing = 0;
    sum(&nothing, 1);  // all live
    return shared_memory_rank(groups.next(world, members, rank));
  }

  void ring() { mine.bell.add_one(); }
  bool progress(Exchange& exchange) {
    const std::uint32_t seen = mine.bell.done.load();
    const Missed missed = find_missed(exchange);
    if (exchange.move()) {
      if (mine.awaits >= 0) mine.awaits = -1;
      return !exchange.mismatch() || is_refused(*exchange.mismatch());
    }
    if (missed.rank >= 0) {
      segment.fail(missed.why, missed.rank);
      return false;
    }
    const auto rings = [&] { return mine.bell.done.load() != seen; };
    if (kernel::spin(1000, rings)) return true;
    if (segment.is_hopeless(exchange.last_progress())) return false;
    exchange.each_open([&](const Transfer& transfer, bool) {
      mine.awaits = transfer.peer;
      return false;
    });
    mine.bell.sleep(seen, shared_memory::look_around);
    return true;
  }
  bool is_refused(const Mismatch& wrong) {
    mine.wrong = wrong;
    segment.fail(Failure::unmatched, me);
    return false;
  }
  /// A rank of which all that comes is there, when we look now, as it is at a transfer of all ranks already,
  /// or nothing is to be expected.
  struct Missed {
    int rank = -1;
    Failure::Kind why = Failure::none;
  };
  Missed find_missed(const Exchange& exchange) const {
    Missed first;
    exchange.each_open([&](const Transfer& transfer, bool) {
      first.why = segment.state(transfer.peer).staged.has_reached(chunks + 1)
                      ? Failure::differs
                      : segment.missing(transfer.peer, exchange.last_progress());
      if (first.why == Failure::stalled)
        first.rank = segment.culprit(transfer.peer);
      else if (first.why != Failure::none)
        first.rank = transfer.peer;
      return first.rank < 0;
    });
    return first;
  }
};

}  // namespace

std::string shared_memory_world_id() {
  std::uint64_t random[2];
  if (getrandom(random, sizeof random, 0) != sizeof random)
    throw Error("the system gives no random numbers for the id of a world.");
  return std::to_string(random[0]) + "-" + std::to_string(random[1]);
}

std::unique_ptr<Communicator> shared_memory_rank(const World& world) {
  check_place(world);
  if (world.ranks == 1) return single_rank();
  auto segment = shared_memory::gather(world, shared_memory::Layout::of(world.ranks));
  segment->watch(world.rank, world.timeout);
  return std::make_unique<SharedMemoryRank>(world, std::move(segment));
}

}  // namespace sinter
