// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "comm/exchange.hpp"
#include "sinter/base/with_element.hpp"

namespace sinter::detail {

/// A communicator whose transfers run beside the computation, in their order, on a thread of the rank. The
/// class Rank that derives from it has
///   sum_all(T* data, count), reduce_scatter(T* data, count), all_gather(T* data, count),
///   broadcast(T* data, count, root), reduce(T* data, count, root), all_to_all(T* data, count)
///            do one; false if another rank has failed
///   progress(Exchange&)
///            moves what can be moved of sends and receives, or waits for a while until something may be;
///            false if another rank has failed, or ranks do not fit together
///   ring()   ends that wait
///   lost()   throws the Error that says so
/// and calls begin_transfers() in its constructor, and end_transfers() in its destructor, when these no
/// longer wait for anybody. at_work() is the transfer that its thread does.
template <class Rank>
class QueuedRank : public Communicator {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Transfer>
      pending;  // in order; the first is at work, or all those that `exchange` has
  Transfer current{};
  std::unique_ptr<Exchange> exchange;  // only for the thread
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
  /// requires  the channels outlive the thread
  void begin_transfers(const Channels& channels) {
    exchange = std::make_unique<Exchange>(channels, rank());
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
    {
      std::scoped_lock lock(mutex);
      pending.push_back(transfer);
      changed.notify_all();
    }
    rank_().ring();
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
          fine = rank_().broadcast(data, transfer.count, transfer.peer);
          break;
        case Operation::reduce:
          fine = rank_().reduce(data, transfer.count, transfer.peer);
          break;
        case Operation::all_to_all:
          fine = rank_().all_to_all(data, transfer.count);
          break;
        default:
          break;  // start() lets no other pass
      }
    });
    return fine;
  }
  /// Runs sends and receives, until there is none before the next transfer of another kind.
  bool run_together() {
    while (take_together())
      if (!rank_().progress(*exchange)) return false;
    return true;
  }
  /// Removes transfers that are done, and adds those that were started. Returns true if there are
  /// any.
  bool take_together() {
    std::scoped_lock lock(mutex);
    for (int k = exchange->size(); k-- > 0;) {
      if (!exchange->is_done(k)) continue;
      exchange->remove(k);
      pending.erase(pending.begin() + k);
      changed.notify_all();
    }
    for (auto k = std::size_t(exchange->size());
         k < pending.size() && is_between_two(pending[k].operation); ++k)
      exchange->add(pending[k]);
    return exchange->size() > 0;
  }
  void work() {
    for (;;) {
      {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return stop || !pending.empty(); });
        if (stop) return;
        current = pending.front();
      }
      const bool alone = !is_between_two(current.operation);
      const bool fine = alone ? run(current) : run_together();
      std::scoped_lock lock(mutex);
      if (alone) pending.erase(pending.begin());
      failed |= !fine;
      changed.notify_all();
      if (failed) return;
    }
  }
};

}  // namespace sinter::detail
