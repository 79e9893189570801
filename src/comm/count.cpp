// SPDX-License-Identifier: Apache-2.0
#include "comm/count.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <ctime>

namespace sinter::detail {

// A thread that sleeps in another process is woken only by operations that are not FUTEX_PRIVATE.

void Count::add_one() {
  done.fetch_add(1);
  if (sleepers.load() > 0) wake();
}

void Count::wake() { syscall(SYS_futex, &done, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0); }

void Count::sleep(std::uint32_t seen, std::chrono::milliseconds at_most) {
  const timespec time{at_most.count() / 1000, at_most.count() % 1000 * 1'000'000};
  sleepers.fetch_add(1);
  syscall(SYS_futex, &done, FUTEX_WAIT, seen, &time, nullptr, 0);
  sleepers.fetch_sub(1);
}

}  // namespace sinter::detail
