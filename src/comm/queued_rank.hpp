// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "sinter/comm/communicator.hpp"

namespace sinter {

/// A communicator whose transfers run beside the computation, one after the other, on a thread of the
/// rank. The class Rank that derives from it has
///   sum_all(T* data, count), reduce_scatter(T* data, count), all_gather(T* data, count)
///            do one; false if another rank has failed
///   lost()   throws the Error that says so
/// and calls end_transfers() in its destructor, when these no longer wait for anybody.
template <class Rank>
class QueuedRank : public Communicator {
  struct Transfer {
    void* data;
    std::int64_t count;
    bool (*run)(Rank&, void*, std::int64_t);
  };
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Transfer> pending;  // in order; the first is at work
  bool stop = false, failed = false;
  std::thread worker;

 public:
  void start_sum(float* data, std::int64_t count) override { sum_later(data, count); }
  void start_sum(double* data, std::int64_t count) override { sum_later(data, count); }
  void start_sum(BFloat16* data, std::int64_t count) override { sum_later(data, count); }
  void start_sum(Float16* data, std::int64_t count) override { sum_later(data, count); }
  void start_reduce_scatter(float* data, std::int64_t count) override {
    scatter_later(data, count);
  }
  void start_reduce_scatter(double* data, std::int64_t count) override {
    scatter_later(data, count);
  }
  void start_reduce_scatter(BFloat16* data, std::int64_t count) override {
    scatter_later(data, count);
  }
  void start_reduce_scatter(Float16* data, std::int64_t count) override {
    scatter_later(data, count);
  }
  void start_all_gather(float* data, std::int64_t count) override { gather_later(data, count); }
  void start_all_gather(double* data, std::int64_t count) override { gather_later(data, count); }
  void start_all_gather(BFloat16* data, std::int64_t count) override { gather_later(data, count); }
  void start_all_gather(Float16* data, std::int64_t count) override { gather_later(data, count); }

  void wait(const void* data) override {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] {
      return failed || std::ranges::find(pending, data, &Transfer::data) == pending.end();
    });
    if (failed) rank_().lost();
  }

 protected:
  QueuedRank() {
    pending.reserve(1024);  // more than a step starts, so that it allocates nothing
  }
  void begin_transfers() {
    worker = std::thread([this] { work(); });
  }
  void end_transfers() {
    {
      std::scoped_lock lock(mutex);
      stop = true;
      changed.notify_all();
    }
    worker.join();
  }

 private:
  Rank& rank_() { return static_cast<Rank&>(*this); }

  template <class T>
  void sum_later(T* data, std::int64_t count) {
    start({data, count, [](Rank& rank, void* at, std::int64_t n) {
             return rank.sum_all(static_cast<T*>(at), n);
           }});
  }
  template <class T>
  void scatter_later(T* data, std::int64_t count) {
    start({data, count, [](Rank& rank, void* at, std::int64_t n) {
             return rank.reduce_scatter(static_cast<T*>(at), n);
           }});
  }
  template <class T>
  void gather_later(T* data, std::int64_t count) {
    start({data, count, [](Rank& rank, void* at, std::int64_t n) {
             return rank.all_gather(static_cast<T*>(at), n);
           }});
  }
  void start(const Transfer& transfer) {
    std::scoped_lock lock(mutex);
    pending.push_back(transfer);
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
      const bool fine = transfer.run(rank_(), transfer.data, transfer.count);
      std::scoped_lock lock(mutex);
      pending.erase(pending.begin());
      failed |= !fine;
      changed.notify_all();
      if (failed) return;
    }
  }
};

}  // namespace sinter
