// SPDX-License-Identifier: Apache-2.0
// Ranks that are processes with a processor each.
#pragma once
#include <sched.h>

#include <string>

#include "sinter/error.hpp"

namespace sinter::detail::bench {

/// How many processors this process may run on.
inline int processors() {
  cpu_set_t all;
  CPU_ZERO(&all);
  sched_getaffinity(0, sizeof all, &all);
  return CPU_COUNT(&all);
}

/// Keeps process `number` of so many, and the threads that it will start, to one of the processors it may
/// run on.
/// throws    Error if there are fewer than processes
inline void take_processor(int number, int processes) {
  const int here = processors();
  if (here < processes)
    throw Error("This bench needs a processor for each of " + std::to_string(processes) +
                " processes, and there " + (here == 1 ? "is " : "are ") + std::to_string(here) +
                ".");
  cpu_set_t all, one;
  CPU_ZERO(&all);
  CPU_ZERO(&one);
  sched_getaffinity(0, sizeof all, &all);
  int at = 0;
  for (int seen = 0; !CPU_ISSET(at, &all) || seen++ < number;) ++at;
  CPU_SET(at, &one);
  sched_setaffinity(0, sizeof one, &one);
}

}  // namespace sinter::detail::bench
