// SPDX-License-Identifier: Apache-2.0
#include "sinter/data/reader.hpp"

#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "sinter/error.hpp"

namespace sinter {

/// A ring of slots. Slots [head, head + filled) belong to the taker of batches; the one behind them
/// belongs to the thread, which fills it without holding the lock.
struct ReadAhead::Queue {
  struct Slot {
    HostBatch batch;
    SamplerState after;
  };
  Origin& origin;
  std::vector<Slot> slots;

  std::mutex mutex;
  std::condition_variable changed;
  std::size_t head = 0, filled = 0;
  bool stopping = false;
  bool ended = false;  // the source has ended or failed, or stop() was called
  std::exception_ptr failure;

  SamplerState handed_out;
  double waited = 0;
  std::thread thread;

  Queue(Origin& o, std::size_t depth) : origin(o), slots(depth) {}

  Slot& free_slot() { return slots[(head + filled) % slots.size()]; }

  /// Waits for a free slot. Returns nullptr when the reader stops.
  Slot* await_free_slot() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return stopping || filled < slots.size(); });
    return stopping ? nullptr : &free_slot();
  }

  void end(std::exception_ptr why) {
    std::lock_guard lock(mutex);
    ended = true;
    failure = std::move(why);
    changed.notify_all();
  }

  void work() try {
    while (Slot* slot = await_free_slot()) {
      if (!origin.next(slot->batch)) break;
      slot->after = origin.state();
      std::lock_guard lock(mutex);
      ++filled;
      changed.notify_all();
    }
    end(nullptr);
  } catch (...) {
    end(std::current_exception());
  }
};

ReadAhead::ReadAhead(Origin& origin, int depth) {
  if (depth < 1)
    throw ArgumentError(fmt::format("A reader must read at least 1 batch ahead, not {}.", depth));
  queue = std::make_unique<Queue>(origin, std::size_t(depth));
  start();
}

ReadAhead::~ReadAhead() { stop(); }

void ReadAhead::start() {
  Queue& q = *queue;
  q.handed_out = q.origin.state();
  q.stopping = q.ended = false;
  q.thread = std::thread([&q] { q.work(); });
}

void ReadAhead::stop() {
  Queue& q = *queue;
  if (!q.thread.joinable()) return;
  {
    std::lock_guard lock(q.mutex);
    q.stopping = true;
    q.changed.notify_all();
  }
  q.thread.join();
  q.filled = 0;
  q.failure = std::make_exception_ptr(Error(
      "The reader is stopped: its source could be restored neither to the state asked for nor "
      "to the one before."));
}

bool ReadAhead::next(HostBatch& batch) {
  Queue& q = *queue;
  std::unique_lock lock(q.mutex);
  auto ready = [&] { return q.filled > 0 || q.ended; };
  if (!ready()) {
    const auto begin = std::chrono::steady_clock::now();
    q.changed.wait(lock, ready);
    q.waited += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  if (q.filled == 0) {
    if (q.failure) std::rethrow_exception(q.failure);
    batch.clear();
    return false;
  }
  Queue::Slot& slot = q.slots[q.head];
  std::swap(batch, slot.batch);
  std::swap(q.handed_out, slot.after);
  q.head = (q.head + 1) % q.slots.size();
  --q.filled;
  q.changed.notify_all();
  return true;
}

const SamplerState& ReadAhead::state() const { return queue->handed_out; }

double ReadAhead::waited_seconds() const { return queue->waited; }

}  // namespace sinter
