// SPDX-License-Identifier: Apache-2.0
#include "sinter/kernels/stream.hpp"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <system_error>
#include <utility>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace sinter::kernel {
namespace {

/// The vendor's matmul and the attention blocks need more stack than some systems give a thread.
constexpr std::size_t stack_bytes = std::size_t{16} << 20;

/// About 20 to 50 microseconds: longer than the gap between two kernels of a step, shorter than a
/// scheduler's time slice.
constexpr int spins = 1000;

void pause() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Spins briefly, then sleeps until `value` is no longer `old`.
void wait_while(const std::atomic<int>& value, int old) {
  for (int i = 0; i < spins; ++i) {
    if (value.load(std::memory_order_acquire) != old) return;
    pause();
  }
  value.wait(old, std::memory_order_acquire);
}

/// What parallel() does on this thread.
struct Inside {
  bool body = false;  // it is inside a body: a plain loop over all parts
  int lane = -1;      // it is this thread of together(): its own parts
};
// (Aligned for mold 1.10: a smaller thread_local at a page's end makes a program that does not
// start.)
alignas(64) thread_local Inside inside;

}  // namespace

struct Stream::Pool {
  struct alignas(128) Worker {
    std::atomic<int> ticket{0};  // counts the calls that this worker takes part in
    Pool* pool = nullptr;
    int index = 0;
    pthread_t thread{};
  };

  explicit Pool(int threads) : workers(std::max(threads, 1) - 1) {}
  ~Pool() { stop(); }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  void start(Worker& worker, int index);
  void run(int parts, Call new_call, const void* new_body);
  void stop();

  static void* work(void* worker);
  void run_parts(int thread) const {
    for (int part = thread; part < parts; part += int(workers.size()) + 1) call(body, part);
  }

  std::vector<Worker> workers;
  int started = 0;
  // The current call. Only workers with a new ticket read it, and the caller writes it only after
  // they have all finished.
  int parts = 0;
  Call call = nullptr;
  const void* body = nullptr;
  alignas(128) std::atomic<int> running{0};
};

void Stream::Pool::start(Worker& worker, int index) {
  worker.pool = this;
  worker.index = index;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, stack_bytes);
  int error = pthread_create(&worker.thread, &attributes, work, &worker);
  pthread_attr_destroy(&attributes);
  if (error)
    throw std::system_error(error, std::generic_category(),
                            "Sinter: cannot start thread " + std::to_string(index + 1) + " of " +
                                std::to_string(workers.size() + 1) +
                                ". Use fewer threads, or raise the limit (ulimit -u)");
  ++started;
}

void* Stream::Pool::work(void* argument) {
  auto& worker = *static_cast<Worker*>(argument);
  Pool& pool = *worker.pool;
  inside.body = true;
  for (int seen = 0;;) {
    wait_while(worker.ticket, seen);
    ++seen;
    if (!pool.call) return nullptr;
    pool.run_parts(worker.index + 1);
    if (pool.running.fetch_sub(1, std::memory_order_acq_rel) == 1) pool.running.notify_one();
  }
}

void Stream::Pool::run(int new_parts, Call new_call, const void* new_body) {
  parts = new_parts, call = new_call, body = new_body;
  int helpers = std::min(started, parts - 1);
  running.store(helpers, std::memory_order_relaxed);
  for (int w = 0; w < helpers; ++w) {
    workers[w].ticket.fetch_add(1, std::memory_order_release);
    workers[w].ticket.notify_one();
  }
  inside.body = true;
  run_parts(0);
  inside.body = false;
  for (int left; (left = running.load(std::memory_order_acquire)) > 0;) wait_while(running, left);
}

void Stream::Pool::stop() {
  call = nullptr;
  for (int w = 0; w < started; ++w) {
    workers[w].ticket.fetch_add(1, std::memory_order_release);
    workers[w].ticket.notify_one();
  }
  for (int w = 0; w < started; ++w) pthread_join(workers[w].thread, nullptr);
}

Stream::Stream(int threads) : pool(std::make_shared<Pool>(threads)) {
  // Signals are the program's business: its own threads get them, not ours.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    for (int w = 0; w < int(pool->workers.size()); ++w) pool->start(pool->workers[w], w);
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Stream::~Stream() = default;

int Stream::threads() const { return int(pool->workers.size()) + 1; }

void Stream::run_lanes(Call call, const void* body) {
  if (inside.body) return call(body, 0);
  parallel(threads(), [&](int lane) {
    inside.lane = lane;
    call(body, lane);
    inside.lane = -1;
  });
}

void Stream::run(int parts, Call call, const void* body) {
  if (inside.lane >= 0) {
    const int lane = std::exchange(inside.lane, -1);
    for (int part = lane; part < parts; part += threads()) call(body, part);
    inside.lane = lane;
    return;
  }
  if (parts > 1 && !inside.body && !pool->workers.empty()) return pool->run(parts, call, body);
  for (int part = 0; part < parts; ++part) call(body, part);
}

}  // namespace sinter::kernel
