// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "sinter/comm/communicator.hpp"
#include "sinter/run/elements.hpp"

namespace sinter {

/// A communicator whose transfers run beside the computation, one after the other, on a thread of the
/// rank. The class Rank that derives from it has
///   sum_all(T* data, count), reduce_scatter(T* data, count), all_gather(T* data, count),
///   broadcast(T* data, count, root), reduce(T* data, count, root)
///            do one; false if another rank has failed
///   lost()   throws the Error that says so
/// and calls end_transfers() in its destructor, when these no longer wait for anybody. at_work() is the
/// transfer that its thread does.
template <class Rank>
class QueuedRank : public Communicator {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Transfer> pending;  // in order; the first is at work
  Transfer current{};
  bool stop = false, failed = false;
  std::thread worker;

 public:
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
  const Transfer& at_work() const { return current; }
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

  void start_transfer(const Transfer& transfer) override {
    std::scoped_lock lock(mutex);
    pending.push_back(transfer);
    changed.notify_all();
  }
  bool run(const Transfer& transfer) {
    bool fine = false;
    with_element(transfer.element, [&]<class T>(T) {
      T* const data = static_cast<T*>(transfer.data);
      switch (transfer.operation) {
        case Operation::all_reduce:
          fine = rank_().sum_all(data, transfer.count);
          break;
        case Operation::reduce_scatter:
          fine = rank_().reduce_scatter(data, transfer.count);
          break;
        case Operation::all_gather:
          fine = rank_().all_gather(data, transfer.count);
          break;
        case Operation::broadcast:
          fine = rank_().broadcast(data, transfer.count, transfer.root);
          break;
        case Operation::reduce:
          fine = rank_().reduce(data, transfer.count, transfer.root);
          break;
        default:
          break;  // start() lets no other pass
      }
    });
    return fine;
  }
  void work() {
    for (;;) {
      {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return stop || !pending.empty(); });
        if (stop) return;
        current = pending.front();
      }
      const bool fine = run(current);
      std::scoped_lock lock(mutex);
      pending.erase(pending.begin());
      failed |= !fine;
      changed.notify_all();
      if (failed) return;
    }
  }
};

}  // namespace sinter
