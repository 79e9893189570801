// SPDX-License-Identifier: Apache-2.0
// Threads pinned to a processor.
#pragma once
#include <fmt/format.h>
#include <sched.h>

#include <vector>

#include "sinter/error.hpp"

namespace sinter::detail {

/// Returns a processor for each of `threads` threads, among those that the calling thread may use.
/// throws    ArgumentError if there are too few
inline std::vector<int> processors_for(int threads) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  sched_getaffinity(0, sizeof allowed, &allowed);
  if (CPU_COUNT(&allowed) < threads)
    throw ArgumentError(fmt::format(
        "{} threads are to have a processor each, and this process may run on {}. Use no more "
        "threads than that, or do not pin them.",
        threads, CPU_COUNT(&allowed)));
  std::vector<int> processors;
  for (int p = 0; p < CPU_SETSIZE && int(processors.size()) < threads; ++p)
    if (CPU_ISSET(std::size_t(p), &allowed)) processors.push_back(p);
  return processors;
}

/// Pins the calling thread to a processor while it lives, with all threads that it starts
/// meanwhile.
class Pinned {
  cpu_set_t before;

 public:
  explicit Pinned(int processor) {
    sched_getaffinity(0, sizeof before, &before);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(std::size_t(processor), &one);
    sched_setaffinity(0, sizeof one, &one);
  }
  ~Pinned() { sched_setaffinity(0, sizeof before, &before); }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;
};

}  // namespace sinter::detail
