// SPDX-License-Identifier: Apache-2.0
// A thread that may use one processor.
#pragma once
#include <doctest/doctest.h>
#include <sched.h>

namespace sinter::detail::testing {

/// Keeps the calling thread, and processes that it starts, to the first processor while it lives.
class OneProcessor {
  cpu_set_t before;

 public:
  OneProcessor() {
    REQUIRE(sched_getaffinity(0, sizeof before, &before) == 0);
    cpu_set_t one;
    CPU_ZERO(&one);
    for (std::size_t p = 0; p < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++p)
      if (CPU_ISSET(p, &before)) CPU_SET(p, &one);
    REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
  }
  ~OneProcessor() { sched_setaffinity(0, sizeof before, &before); }
};

}  // namespace sinter::detail::testing
