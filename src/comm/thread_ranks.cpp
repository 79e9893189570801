// SPDX-License-Identifier: Apache-2.0
// Ranks that are threads of one process.
#include <algorithm>
#include <array>
#include <atomic>

#include "comm/ordered_sum.hpp"
#include "comm/queued_rank.hpp"
#include "comm/transfer_text.hpp"
#include "sinter/error.hpp"

namespace sinter {

namespace {

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

/// What all ranks share. Transfers and scalars have a barrier each, as ranks meet for them on
/// different threads.
struct RankGroup {
  explicit RankGroup(int n)
      : ranks(n), at_work(n), buffers(n), values(n), transfers(n), scalars(n) {}
  const int ranks;
  std::vector<Transfer> at_work;  // of each rank
  std::vector<void*> buffers;
  std::vector<std::array<double, Communicator::most_values>> values;  // of each rank
  Barrier transfers, scalars;
};

class ThreadRank final : public QueuedRank<ThreadRank> {
  std::shared_ptr<RankGroup> group;
  const int me;
  std::vector<void*> slices;      // of everybody's buffer, the part that this rank sums
  std::atomic<int> differs = -1;  // a rank that is at another transfer

 public:
  ThreadRank(std::shared_ptr<RankGroup> shared, int rank)
      : group(std::move(shared)), me(rank), slices(std::size_t(group->ranks)) {
    begin_transfers();
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
    if (!group->scalars.arrive()) lost();  // nobody writes before all have read
  }
  void abort() noexcept override {
    group->transfers.abort();
    group->scalars.abort();
  }

 private:
  friend class QueuedRank<ThreadRank>;

  [[noreturn]] void lost() const {
    if (const int rank = differs; rank >= 0) {
      const Transfer& other = group->at_work[std::size_t(rank)];
      throw RankError("Sinter: rank " + std::to_string(me) + " of " + std::to_string(group->ranks) +
                      " cannot go on: rank " + std::to_string(rank) + " is at another transfer, " +
                      text_of(other) + ", than this rank, " + text_of(at_work()) +
                      ". All ranks must take the same steps, of the same recipe, on the same "
                      "batches.");
    }
    throw RankError("Sinter: rank " + std::to_string(me) + " of " + std::to_string(group->ranks) +
                    " waits for ranks that have stopped. Their own error says why.");
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

  /// Waits until all have come, each with its buffer.
  [[nodiscard]] bool meet(void* data) {
    group->buffers[me] = data;
    group->at_work[me] = at_work();
    if (!group->transfers.arrive()) return false;
    const auto other = std::ranges::find_if_not(
        group->at_work, [&](const Transfer& of_rank) { return is_same(of_rank, at_work()); });
    if (other == group->at_work.end()) return true;
    differs = int(other - group->at_work.begin());
    abort();
    return false;
  }
  static bool is_same(const Transfer& a, const Transfer& b) {
    return a.operation == b.operation && a.count == b.count && a.element == b.element &&
           a.root == b.root;
  }
  static std::string text_of(const Transfer& t) {
    return transfer_text(t.operation, t.root, t.count, bytes_of(t.element));
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
    throw ArgumentError("Sinter: " + std::to_string(ranks) +
                        " ranks were asked for; there must be at least one.");
  auto group = std::make_shared<RankGroup>(ranks);
  std::vector<std::unique_ptr<Communicator>> result;
  for (int r = 0; r < ranks; ++r) result.push_back(std::make_unique<ThreadRank>(group, r));
  return result;
}

}  // namespace sinter
