// SPDX-License-Identifier: Apache-2.0
// Threads that work beside the steps.
#pragma once
#include <sys/resource.h>
#include <unistd.h>

namespace sinter::detail {

/// Lowers the priority of this thread, so that it runs while a thread of the steps waits. (On Linux
/// each thread has a priority of its own.)
inline void yield_to_others() {
  constexpr int lowest = 19;
  (void)::setpriority(PRIO_PROCESS, id_t(::gettid()), lowest);
}

}  // namespace sinter::detail
