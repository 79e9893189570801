// SPDX-License-Identifier: Apache-2.0
// A wait of one thread for another.
#pragma once
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace sinter::kernel {

/// Lets the processor rest for some tens of cycles.
inline void pause() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// True if `done` becomes true within a number of pauses.
template <class Done>
bool spin(int pauses, const Done& done) {
  for (int i = 0; i < pauses; ++i) {
    if (done()) return true;
    pause();
  }
  return done();
}

/// A place where one thread sleeps. (libstdc++'s std::atomic::wait() calls sched_yield() four times
/// before it sleeps; beside busy programs each call gives the processor away for a time slice.)
class Sleeper {
  static_assert(sizeof(std::atomic<int>) == sizeof(int));
  std::atomic<int> asleep{0};

 public:
  /// Returns when `done` is true. It has to load what it reads in sequential consistency.
  template <class Done>
  void sleep_until(const Done& done) {
    while (!done()) {
      asleep.store(1);
      if (!done()) syscall(SYS_futex, &asleep, FUTEX_WAIT_PRIVATE, 1, nullptr, nullptr, 0);
    }
    asleep.store(0, std::memory_order_relaxed);
  }
  /// Wakes the thread that sleeps, if there is one. What its `done` reads was stored in sequential
  /// consistency.
  void wake() {
    if (!asleep.load()) return;
    asleep.store(0);
    syscall(SYS_futex, &asleep, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  }
};

}  // namespace sinter::kernel
