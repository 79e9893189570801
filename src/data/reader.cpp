// SPDX-License-Identifier: Apache-2.0
#include "sinter/data/reader.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "sinter/error.hpp"

namespace sinter::detail {
namespace {

/// Keeps this thread from taking the processor from the one that has just woken it: on a busy
/// machine that is the step, which would then wait for a whole batch.
void wake_without_haste() {
  const sched_param none{};
  (void)::pthread_setschedparam(::pthread_self(), SCHED_BATCH, &none);
}

}  // namespace

/// A ring of slots. Slots [head, head + taken) hold what the source has given, in its order; a
/// worker takes the slot behind them while it holds `drawing`, and makes its batch without a lock.
struct BackgroundReader::Queue {
  /// One batch, or where the source ends or fails, which nobody takes away.
  struct Slot {
    BatchDraw draw;
    HostBatch batch;
    SamplerState after;
    bool ready = false, end = false;
    std::exception_ptr failure;
  };
  AnySource source;
  const std::size_t workers;
  const BatchPart part;
  std::vector<Slot> slots;

  std::mutex drawing;  // what touches the source itself; is taken before `mutex`
  std::mutex mutex;
  std::condition_variable changed;
  std::size_t head = 0, taken = 0;
  bool stopping = false;  // no further batch is drawn: stop(), the end or a failure

  SamplerState handed_out;
  double waited = 0;
  std::vector<std::thread> threads;

  Queue(AnySource s, const ReaderOptions& options)
      : source(std::move(s)),
        workers(std::size_t(std::min(options.workers, source.divides() ? options.depth : 1))),
        part(options.part),
        slots(std::size_t(options.depth)) {}
  ~Queue() { stop(); }

  /// Waits for a free slot. Returns nullptr when the reader stops.
  Slot* take_slot() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return stopping || taken < slots.size(); });
    if (stopping) return nullptr;
    Slot& slot = slots[(head + taken++) % slots.size()];
    slot.ready = slot.end = false;
    slot.failure = nullptr;
    return &slot;
  }

  /// Says that a slot holds what it will hold.
  void give(Slot& slot) {
    std::lock_guard lock(mutex);
    slot.ready = true;
    stopping = stopping || slot.end || slot.failure;
    changed.notify_all();
  }

  /// Draws the next batch into the next slot. Returns nullptr where there is none to be filled.
  Slot* draw() {
    std::lock_guard lock(drawing);
    Slot* slot = take_slot();
    if (!slot) return nullptr;
    try {
      slot->end = !(source.divides() ? source.draw(slot->draw) : source.next(slot->batch));
      if (!slot->end) slot->after = source.state();
    } catch (...) {
      slot->failure = std::current_exception();
    }
    if (!slot->end && !slot->failure) return slot;
    give(*slot);
    return nullptr;
  }

  void fill(Slot& slot) {
    try {
      if (source.divides()) fill_part(source, slot.draw, slot.batch, part);
    } catch (...) {
      slot.failure = std::current_exception();
    }
    give(slot);
  }

  void work() {
    wake_without_haste();
    while (Slot* slot = draw()) fill(*slot);
  }

  /// Starts to read from the source's current state.
  void start() {
    handed_out = source.state();
    head = taken = 0;
    stopping = false;
    try {
      for (std::size_t w = 0; w < workers; ++w) threads.emplace_back([this] { work(); });
    } catch (...) {  // the machine gives no thread
      stop();
      throw;
    }
  }

  /// Ends the threads and drops what was read ahead; until start(), next() fails.
  void stop() {
    {
      std::lock_guard lock(mutex);
      stopping = true;
      changed.notify_all();
    }
    for (std::thread& thread : threads) thread.join();
    threads.clear();
    taken = 1;
    Slot& slot = slots[head];
    slot.ready = true;
    slot.failure = std::make_exception_ptr(Error(
        "The reader is stopped: its source could be restored neither to the state asked for nor "
        "to the one before."));
  }

  void await_head(std::unique_lock<std::mutex>& lock) {
    auto ready = [&] { return taken > 0 && slots[head].ready; };
    if (ready()) return;
    const auto begin = std::chrono::steady_clock::now();
    if (threads.empty()) {  // without workers
      lock.unlock();
      if (Slot* slot = draw()) fill(*slot);
      lock.lock();
    } else {
      changed.wait(lock, ready);
    }
    waited += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
};

void require_in_range(const ReaderOptions& options) {
  if (options.depth < 1)
    throw ArgumentError(
        fmt::format("A reader must read at least 1 batch ahead, not {}.", options.depth));
  if (options.workers < 0)
    throw ArgumentError(fmt::format("A reader needs at least 0 workers, not {}.", options.workers));
}

BackgroundReader::BackgroundReader(AnySource source, int depth)
    : BackgroundReader(std::move(source), ReaderOptions{.depth = depth}) {}

BackgroundReader::BackgroundReader(AnySource source, ReaderOptions options) {
  require_in_range(options);
  queue = std::make_unique<Queue>(std::move(source), options);
  queue->start();
}

BackgroundReader::~BackgroundReader() = default;

void BackgroundReader::restore(const SamplerState& saved) {
  const SamplerState before = queue->handed_out;
  queue->stop();
  try {
    queue->source.restore(saved);
  } catch (...) {
    queue->source.restore(before);
    queue->start();
    throw;
  }
  queue->start();
}

bool BackgroundReader::next(HostBatch& batch) {
  Queue& q = *queue;
  std::unique_lock lock(q.mutex);
  q.await_head(lock);
  Queue::Slot& slot = q.slots[q.head];
  if (slot.failure) std::rethrow_exception(slot.failure);
  if (slot.end) {
    batch.clear();
    return false;
  }
  std::swap(batch, slot.batch);
  std::swap(q.handed_out, slot.after);
  slot.ready = false;
  q.head = (q.head + 1) % q.slots.size();
  --q.taken;
  q.changed.notify_all();
  return true;
}

SamplerState BackgroundReader::state() const { return queue->handed_out; }

double BackgroundReader::waited_seconds() const { return queue->waited; }

}  // namespace sinter::detail
