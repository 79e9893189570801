// SPDX-License-Identifier: Apache-2.0
#include "sinter/hardware/stream.hpp"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "hardware/cpu/claims.hpp"
#include "hardware/cpu/sleeper.hpp"

namespace sinter::kernel {
namespace {

/// The vendor's matmul and the attention blocks need more stack than some systems give a thread.
constexpr std::size_t stack_bytes = std::size_t{16} << 20;

/// About 1 microsecond: threads that begin together end no further apart, mostly.
constexpr int spins_before_helping = 50;

/// About 0.1 to 0.5 milliseconds: longer than what a step does on one thread between two kernels,
/// shorter than a scheduler's time slice. Beside busy programs who sleeps waits for a processor.
constexpr int spins_before_sleep = 10'000;

/// What parallel() does on this thread.
struct Inside {
  bool body = false;  // it is inside a body: a plain loop over all parts
  int lane = -1;      // it is in this lane of together(): the lane's parts
};
// (Aligned for mold 1.10: a smaller thread_local at a page's end makes a program that does not
// start.)
alignas(64) thread_local Inside inside;

using Clock = std::chrono::steady_clock;

/// Moves the calling thread to another processor than this one, if it may run on another, and on at
/// least `threads`.
void leave(int processor, int threads) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) || CPU_COUNT(&allowed) < threads) return;
  cpu_set_t others = allowed;
  CPU_CLR(processor, &others);
  if (CPU_COUNT(&others) == 0 || sched_setaffinity(0, sizeof others, &others)) return;
  sched_setaffinity(0, sizeof allowed, &allowed);
}

}  // namespace

struct Stream::Pool {
  struct Worker {
    Pool* pool = nullptr;
    int thread = 0;  // its number; the caller is 0
    pthread_t handle{};
    Clock::time_point moved{};
  };
  /// What others read of a thread.
  struct alignas(128) Shared {
    Claims claims;
    Sleeper sleeper;
  };

  explicit Pool(int threads) : shared(std::max(threads, 1)), workers(shared.size() - 1) {}
  ~Pool() { stop(); }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  void start(int thread);
  void run(int parts, Call new_call, const void* new_body);
  void stop();

  static void* work(void* worker);
  void part_from(Worker& worker);
  void take_part(int thread, std::uint32_t of);
  void help(int thread, std::uint32_t of);
  void finish(int parts);

  std::vector<Shared> shared;  // of each thread
  std::vector<Worker> workers;
  int started = 0;
  // The current region. Only who takes a part of it may use the call: while one is not finished,
  // the caller leaves all this as it is. A thread that comes late reads what it will, and gets no
  // part.
  alignas(128) std::atomic<Call> call{nullptr};
  std::atomic<const void*> body{nullptr};
  std::atomic<int> processor{-1};               // of the caller, when it began the region
  std::uint32_t region = 0;                     // only for the caller
  alignas(128) std::atomic<int> unfinished{0};  // parts
};

void Stream::Pool::start(int thread) {
  Worker& worker = workers[thread - 1];
  worker.pool = this;
  worker.thread = thread;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, stack_bytes);
  int error = pthread_create(&worker.handle, &attributes, work, &worker);
  pthread_attr_destroy(&attributes);
  if (error)
    throw std::system_error(error, std::generic_category(),
                            "cannot start thread " + std::to_string(thread) + " of " +
                                std::to_string(shared.size()) +
                                ". Use fewer threads, or raise the limit (ulimit -u)");
  ++started;
}

/// Some of the parts are finished.
void Stream::Pool::finish(int parts) {
  if (parts && unfinished.fetch_sub(parts) == parts) shared[0].sleeper.wake();
}

/// Runs the thread's own parts of a region, as far as others have not taken them.
void Stream::Pool::take_part(int thread, std::uint32_t of) {
  const Call now = call.load(std::memory_order_relaxed);
  const void* with = body.load(std::memory_order_relaxed);
  int finished = 0;
  for (; const auto part = shared[thread].claims.take_first(of); ++finished)
    now(with, thread + *part * int(shared.size()));
  finish(finished);
}

/// Runs what the others have not begun yet of a region.
void Stream::Pool::help(int thread, std::uint32_t of) {
  const Call now = call.load(std::memory_order_relaxed);
  const void* with = body.load(std::memory_order_relaxed);
  const int threads = int(shared.size());
  int finished = 0;
  for (int i = 1; i < threads; ++i) {
    const int other = (thread + i) % threads;
    for (; const auto part = shared[other].claims.take_last(of); ++finished)
      now(with, other + *part * threads);
  }
  finish(finished);
}

/// Moves a worker off the caller's processor. Otherwise one of them waits for the other's time
/// slice, for as long as the system leaves both there.
void Stream::Pool::part_from(Worker& worker) {
  const int here = sched_getcpu();
  if (here < 0 || here != processor.load(std::memory_order_relaxed)) return;
  const auto now = Clock::now();
  if (now - worker.moved < std::chrono::milliseconds(20)) return;
  worker.moved = now;
  leave(here, int(shared.size()));
}

void* Stream::Pool::work(void* argument) {
  auto& worker = *static_cast<Worker*>(argument);
  Pool& pool = *worker.pool;
  auto& [claims, sleeper] = pool.shared[worker.thread];
  inside.body = true;
  for (std::uint32_t seen = 0;;) {
    const auto is_new = [&] { return claims.region(std::memory_order_seq_cst) != seen; };
    if (!spin(spins_before_helping, is_new)) {
      pool.help(worker.thread, seen);
      if (!spin(spins_before_sleep, is_new)) sleeper.sleep_until(is_new);
    }
    seen = claims.region();
    if (!pool.call.load(std::memory_order_relaxed)) return nullptr;
    pool.part_from(worker);
    pool.take_part(worker.thread, seen);
  }
}

void Stream::Pool::run(int parts, Call new_call, const void* new_body) {
  const int threads = int(shared.size()), helpers = std::min(threads, parts);
  call.store(new_call, std::memory_order_relaxed);
  body.store(new_body, std::memory_order_relaxed);
  processor.store(sched_getcpu(), std::memory_order_relaxed);
  unfinished.store(parts, std::memory_order_relaxed);
  ++region;
  for (int t = helpers; t-- > 0;)
    shared[t].claims.open(region, parts / threads + (t < parts % threads));
  for (int t = 1; t < helpers; ++t) shared[t].sleeper.wake();
  inside.body = true;
  take_part(0, region);
  const auto done = [&] { return unfinished.load() == 0; };
  if (!spin(spins_before_helping, done)) {
    help(0, region);
    if (!spin(spins_before_sleep, done)) shared[0].sleeper.sleep_until(done);
  }
  inside.body = false;
}

void Stream::Pool::stop() {
  call.store(nullptr, std::memory_order_relaxed);
  ++region;
  for (int t = 1; t <= started; ++t) {
    shared[t].claims.open(region, 0);
    shared[t].sleeper.wake();
  }
  for (int t = 1; t <= started; ++t) pthread_join(workers[t - 1].handle, nullptr);
}

Stream::Stream(int threads) : pool(std::make_shared<Pool>(threads)) {
  // Signals are the program's business: its own threads get them, not ours.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    for (int t = 1; t < int(pool->shared.size()); ++t) pool->start(t);
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Stream::~Stream() = default;

int Stream::threads() const { return int(pool->workers.size()) + 1; }

void Stream::pin(const std::vector<int>& processors) {
  for (int t = 1; t < threads(); ++t) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(std::size_t(processors[t]), &one);
    if (int error = pthread_setaffinity_np(pool->workers[t - 1].handle, sizeof one, &one))
      throw std::system_error(error, std::generic_category(),
                              "cannot keep a thread on processor " + std::to_string(processors[t]));
  }
}

void Stream::run_lanes(Call call, const void* body) {
  if (inside.body) return call(body, 0);
  parallel(threads(), [&](int lane) {
    inside.lane = lane;
    call(body, lane);
    inside.lane = -1;
  });
}

void Stream::run_if(const std::int32_t* condition, Call call, const void* body) {
  if (*condition) call(body, 0);
}
void Stream::run_as_graph(ShapeCall, const void*, Call call, const void* body) { call(body, 0); }

void Stream::run(int parts, Call call, const void* body) {
  if (inside.lane >= 0) {
    const int lane = std::exchange(inside.lane, -1);
    for (int part = lane; part < parts; part += threads()) call(body, part);
    inside.lane = lane;
    return;
  }
  if (parts <= 1 || inside.body || pool->workers.empty()) {
    for (int part = 0; part < parts; ++part) call(body, part);
    return;
  }
  const int most = Claims::most * threads();
  if (parts <= most) return pool->run(parts, call, body);
  for (int first = 0; first < parts; first += most)
    parallel(std::min(most, parts - first), [&](int part) { call(body, first + part); });
}

}  // namespace sinter::kernel
