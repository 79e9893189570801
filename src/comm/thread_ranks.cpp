// SPDX-License-Identifier: Apache-2.0
// Ranks that are threads of one process.
#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "sinter/comm/communicator.hpp"
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
  explicit RankGroup(int n) : ranks(n), buffers(n), values(n), transfers(n), scalars(n) {}
  const int ranks;
  std::vector<void*> buffers;
  std::vector<double> values;
  Barrier transfers, scalars;
};

class ThreadRank;
struct Transfer {
  void* data;
  std::int64_t count;
  bool (ThreadRank::*run)(const Transfer&);
};

class ThreadRank final : public Communicator {
  std::shared_ptr<RankGroup> group;
  const int me;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Transfer> pending;  // in order; the first is at work
  bool stop = false, failed = false;
  std::thread worker;

 public:
  ThreadRank(std::shared_ptr<RankGroup> shared, int rank) : group(std::move(shared)), me(rank) {
    pending.reserve(1024);  // more than a step starts, so that it allocates nothing
    worker = std::thread([this] { work(); });
  }
  ~ThreadRank() override {
    {
      std::scoped_lock lock(mutex);
      stop = true;
      changed.notify_all();
    }
    abort();
    worker.join();
  }

  int rank() const override { return me; }
  int ranks() const override { return group->ranks; }
  void start_sum(float* data, std::int64_t count) override { start(data, count); }
  void start_sum(double* data, std::int64_t count) override { start(data, count); }
  void start_sum(BFloat16* data, std::int64_t count) override { start(data, count); }
  void start_sum(Float16* data, std::int64_t count) override { start(data, count); }

  void wait(const void* data) override {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] {
      return failed || std::ranges::find(pending, data, &Transfer::data) == pending.end();
    });
    if (failed) lost();
  }
  void sum(double* value) override {
    group->values[me] = *value;
    if (!group->scalars.arrive()) lost();
    *value = 0;
    for (double v : group->values) *value += v;
    if (!group->scalars.arrive()) lost();  // nobody writes before all have read
  }
  void abort() noexcept override {
    group->transfers.abort();
    group->scalars.abort();
  }

 private:
  [[noreturn]] void lost() const {
    throw Error("Sinter: rank " + std::to_string(me) + " of " + std::to_string(group->ranks) +
                " waits for ranks that have stopped. Their own error says why.");
  }
  template <class T>
  void start(T* data, std::int64_t count) {
    std::scoped_lock lock(mutex);
    pending.push_back({data, count, &ThreadRank::run<T>});
    changed.notify_all();
  }

  void work() {
    for (;;) {
      Transfer transfer;
      {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return stop || !pending.empty(); });
        if (stop) return;
        transfer = pending.front();
      }
      bool fine = (this->*transfer.run)(transfer);
      std::scoped_lock lock(mutex);
      pending.erase(pending.begin());
      failed |= !fine;
      changed.notify_all();
      if (failed) return;
    }
  }

  /// Each rank sums its slice of everybody's buffer, in the order of the ranks, and writes the sum
  /// to everybody: a reduce-scatter and an all-gather at once.
  template <class T>
  bool run(const Transfer& transfer) {
    group->buffers[me] = transfer.data;
    if (!group->transfers.arrive()) return false;
    const std::int64_t from = transfer.count * me / group->ranks;
    const std::int64_t to = transfer.count * (me + 1) / group->ranks;
    for (std::int64_t k = from; k < to; ++k) {
      kernel::Wide<T> sum = 0;
      for (void* buffer : group->buffers) sum += static_cast<T*>(buffer)[k];
      for (void* buffer : group->buffers) static_cast<T*>(buffer)[k] = T(sum);
    }
    return group->transfers.arrive();
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
