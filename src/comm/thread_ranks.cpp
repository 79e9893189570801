// SPDX-License-Identifier: Apache-2.0
// Ranks that are threads of one process.
#include <algorithm>
#include <array>
#include <atomic>

#include "comm/ordered_sum.hpp"
#include "comm/queued_rank.hpp"
#include "comm/rings.hpp"
#include "comm/transfer_text.hpp"
#include "hardware/cpu/sleeper.hpp"
#include "sinter/error.hpp"

namespace sinter {
using namespace detail;

namespace {

using Clock = std::chrono::steady_clock;

/// A barrier that can be given up.
class Barrier {
  std::mutex mutex;
  std::condition_variable changed;
  const int size;
  int waiting = 0;
  std::int64_t generation = 0;
  bool aborted = false;

 public:
  explicit Barrier(int n) : size(n) {}

  /// Waits until all have arrived. Returns false if somebody has given up.
  [[nodiscard]] bool arrive() {
    std::unique_lock lock(mutex);
    if (aborted) return false;
    const std::int64_t mine = generation;
    if (++waiting == size) {
      waiting = 0;
      ++generation;
      changed.notify_all();
      return true;
    }
    changed.wait(lock, [&] { return generation != mine || aborted; });
    return generation != mine;
  }
  void abort() {
    std::scoped_lock lock(mutex);
    aborted = true;
    changed.notify_all();
  }
};

/// What all ranks share. Transfers of all and scalars have a barrier each, as ranks meet for them on
/// different threads.
struct RankGroup {
  explicit RankGroup(int n)
      : ranks(n),
        at_work(n),
        buffers(n),
        values(n),
        transfers(n),
        scalars(n),
        begun(n),
        bells(n),
        rings(nullptr, n, Rings::room_of(n)),
        memory(std::make_unique_for_overwrite<Cell[]>(rings.bytes() / sizeof(Cell))),
        gone(std::size_t(n)) {
    rings = Rings(memory[0].bytes, n, Rings::room_of(n));
    rings.clear();
  }
  void abort(int rank) {
    int nobody = -1;
    left.compare_exchange_strong(nobody, rank);
    transfers.abort();
    scalars.abort();
    for (Count& bell : bells) bell.add_one();
    const std::scoped_lock lock(mutex);
    gone[std::size_t(rank)] = true;
    for (const Part& part : parts) part.end_with(gone);
  }
  /// What the members of a part share. The last that takes it ends the search for it.
  std::shared_ptr<RankGroup> take_part(std::span<const int> members) {
    const std::scoped_lock lock(mutex);
    const auto is_it = [&](const Part& p) {
      return p.taken < p.members.size() && std::ranges::equal(p.members, members);
    };
    auto part = std::ranges::find_if(parts, is_it);
    if (part == parts.end()) {
      parts.push_back(
          {{members.begin(), members.end()}, std::make_shared<RankGroup>(int(members.size()))});
      part = std::prev(parts.end());
      part->end_with(gone);
    }
    ++part->taken;
    return part->shared;
  }

  const int ranks;
  std::vector<Transfer> at_work;  // of each rank, the last of all ranks
  std::vector<void*> buffers;
  std::vector<std::array<double, Communicator::max_values>> values;  // of each rank
  Barrier transfers, scalars;

  std::vector<std::atomic<std::uint32_t>> begun;  // transfers of all ranks, by each
  std::vector<Count> bells;                       // each rings when its rank has to look around
  struct alignas(64) Cell {
    std::byte bytes[64];
  };
  Rings rings;
  std::unique_ptr<Cell[]> memory;  // of the rings
  std::atomic<int> left = -1;      // the first rank that has given up, or ended
  std::mutex mutex;                // of what follows
  std::optional<Mismatch> wrong;
  std::vector<bool> gone;  // ranks

 private:
  struct Part {
    std::vector<int> members;
    std::shared_ptr<RankGroup> shared;
    std::size_t taken = 0;  // number of them that have taken it

    /// A rank that has gone does not come, or come back.
    void end_with(const std::vector<bool>& lost) const {
      for (std::size_t k = 0; k < members.size(); ++k)
        if (lost[std::size_t(members[k])]) shared->abort(int(k));
    }
  };
  std::vector<Part> parts;
};

class ThreadRank final : public QueuedRank<ThreadRank> {
  std::shared_ptr<RankGroup> group;
  const int me;
  std::vector<void*> slices;  // of everybody's buffer, the part that this rank sums
  Channels channels;
  std::atomic<int> differs = -1;  // a rank that is at another transfer
  Transfer differing{};           // than this one of this rank

 public:
  ThreadRank(std::shared_ptr<RankGroup> shared, int rank)
      : group(std::move(shared)), me(rank), slices(std::size_t(group->ranks)) {
    for (int r = 0; r < group->ranks; ++r)
      channels.push_back(r == me ? nullptr : group->rings.channel(me, r, group->bells[r]));
    begin_transfers(channels);
  }
  ~ThreadRank() override {
    abort();
    end_transfers();
  }

  int rank() const override { return me; }
  int ranks() const override { return group->ranks; }
  void sum(double* values, int count) override {
    std::copy_n(values, count, group->values[me].data());
    if (!group->scalars.arrive()) lost();
    std::fill_n(values, count, 0);
    for (const auto& of_rank : group->values)
      for (int k = 0; k < count; ++k) values[k] += of_rank[k];
    if (!group->scalars.arrive()) lost();  // no rank writes before all have read
  }
  void abort() noexcept override { group->abort(me); }

 private:
  friend class QueuedRank<ThreadRank>;

  [[noreturn]] void lost() const {
    const auto name = [](int rank) { return "rank " + std::to_string(rank); };
    const std::string self = name(me) + " of " + std::to_string(group->ranks);
    if (const int rank = differs; rank >= 0)
      throw RankError(self + " cannot go on: " + name(rank) + " is at another transfer, " +
                      text_of(group->at_work[std::size_t(rank)]) + ", than this rank, " +
                      text_of(differing) +
                      ". All ranks must take the same steps, of the same recipe, on the same "
                      "batches.");
    const std::scoped_lock lock(group->mutex);
    if (const auto& wrong = group->wrong)
      throw RankError(self + " cannot go on: " +
                      mismatch_text(*wrong, name(wrong->sender), name(wrong->receiver)));
    throw RankError(self + " waits for ranks that have stopped. Their own error says why.");
  }

  /// Each rank sums its slice of everybody's buffer, in the order of the ranks, and writes the sum
  /// to everybody: a reduce-scatter and an all-gather at once.
  template <class T>
  bool sum_all(T* data, std::int64_t count) {
    if (!meet(data)) return false;
    sum_in_order<T>(slices_of<T>(count), slices, size(me, count));
    return group->transfers.arrive();
  }
  template <class T>
  bool reduce_scatter(T* data, std::int64_t count) {
    if (!meet(data)) return false;
    void* const to[]{data + begin(me, count)};
    sum_in_order<T>(slices_of<T>(count), to, size(me, count));
    return group->transfers.arrive();
  }
  template <class T>
  bool all_gather(T* data, std::int64_t count) {
    if (!meet(data)) return false;
    for (int r = 0; r < group->ranks; ++r)
      if (r != me)
        std::copy_n(static_cast<const T*>(group->buffers[r]) + begin(r, count), size(r, count),
                    data + begin(r, count));
    return group->transfers.arrive();
  }

  template <class T>
  bool broadcast(T* data, std::int64_t count, int root) {
    if (!meet(data)) return false;
    if (me != root) std::copy_n(static_cast<const T*>(group->buffers[root]), count, data);
    return group->transfers.arrive();
  }
  /// Each rank sums its slice for the root.
  template <class T>
  bool reduce(T* data, std::int64_t count, int root) {
    if (!meet(data)) return false;
    void* const to[]{static_cast<T*>(group->buffers[root]) + begin(me, count)};
    sum_in_order<T>(slices_of<T>(count), to, size(me, count));
    return group->transfers.arrive();
  }

  /// For each two ranks, one exchanges the first half of their parts, and the other the second.
  template <class T>
  bool all_to_all(T* data, std::int64_t count) {
    if (!meet(data)) return false;
    const std::int64_t part = count / group->ranks;
    for (int r = 0; r < group->ranks; ++r) {
      if (r == me) continue;
      T* const mine = data + r * part;
      T* const other = static_cast<T*>(group->buffers[r]) + me * part;
      const std::int64_t begin = me < r ? 0 : part / 2, end = me < r ? part / 2 : part;
      std::swap_ranges(mine + begin, mine + end, other + begin);
    }
    return group->transfers.arrive();
  }

  std::unique_ptr<Communicator> make_group(std::span<const int> members, int rank) override {
    return std::make_unique<ThreadRank>(group->take_part(members), rank);
  }
  void ring() { group->bells[me].add_one(); }
  bool progress(Exchange& exchange) {
    Count& bell = group->bells[me];
    const std::uint32_t seen = bell.done.load();
    const bool ended = group->left == me;
    const Transfer away = missed(exchange);  // of whom all that comes is there, when we look now
    if (exchange.move()) return !exchange.mismatch() || is_refused(*exchange.mismatch());
    if (away.peer >= 0 && group->left < 0) {
      differing = away;
      differs = away.peer;
      abort();
    }
    if (ended || away.peer >= 0) return false;
    const auto rings = [&] { return bell.done.load() != seen; };
    if (kernel::spin(1000, rings)) return true;
    // Transfers that need no rank that has left may be completed first.
    if (group->left >= 0 && Clock::now() - exchange.last_progress() > std::chrono::seconds(1))
      return false;
    bell.sleep(seen, std::chrono::milliseconds(100));
    return true;
  }
  bool is_refused(const Mismatch& wrong) {
    {
      const std::scoped_lock lock(group->mutex);
      if (!group->wrong) group->wrong = wrong;
    }
    abort();
    return false;
  }
  /// The first send or receive whose other rank has ended, or is at a transfer of all ranks already; none if
  /// its `peer` is -1.
  Transfer missed(const Exchange& exchange) const {
    Transfer first{};
    exchange.each_open([&](const Transfer& transfer, bool) {
      const auto peer = std::size_t(transfer.peer);
      if (group->left == transfer.peer || group->begun[peer] != group->begun[std::size_t(me)])
        first = transfer;
      return first.peer < 0;
    });
    return first;
  }

  /// Waits until all have come, each with its buffer.
  [[nodiscard]] bool meet(void* data) {
    group->buffers[me] = data;
    group->at_work[me] = at_work();
    ++group->begun[me];
    if (!group->transfers.arrive()) return false;
    const auto other = std::ranges::find_if_not(
        group->at_work, [&](const Transfer& of_rank) { return is_same(of_rank, at_work()); });
    if (other == group->at_work.end()) return true;
    differing = at_work();
    differs = int(other - group->at_work.begin());
    abort();
    return false;
  }
  static bool is_same(const Transfer& a, const Transfer& b) {
    return a.operation == b.operation && a.count == b.count && a.element == b.element &&
           a.peer == b.peer;
  }
  static std::string text_of(const Transfer& t) {
    return transfer_text(t.operation, t.peer, t.count, bytes_of(t.element));
  }
  std::int64_t begin(int rank, std::int64_t count) const {
    return part_begin(count, rank, group->ranks);
  }
  std::int64_t size(int rank, std::int64_t count) const {
    return begin(rank + 1, count) - begin(rank, count);
  }
  /// This rank's part of everybody's buffer.
  template <class T>
  const std::vector<void*>& slices_of(std::int64_t count) {
    for (std::size_t r = 0; r < slices.size(); ++r)
      slices[r] = static_cast<T*>(group->buffers[r]) + begin(me, count);
    return slices;
  }
};

}  // namespace

std::vector<std::unique_ptr<Communicator>> thread_ranks(int ranks) {
  if (ranks < 1)
    throw ArgumentError(std::to_string(ranks) +
                        " ranks were asked for; there must be at least one.");
  auto group = std::make_shared<RankGroup>(ranks);
  std::vector<std::unique_ptr<Communicator>> result;
  for (int r = 0; r < ranks; ++r) result.push_back(std::make_unique<ThreadRank>(group, r));
  return result;
}

}  // namespace sinter
