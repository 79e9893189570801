// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstddef>
#include <mutex>
#include <vector>

namespace sinter::detail::shared_memory {

/// Looks at the processes of other ranks while this one waits for them. What was between looks that are more than
/// a second apart does not count: so one that was stopped itself takes no other for lost.
class Lookout {
 public:
  explicit Lookout(int ranks) : seen_(std::size_t(ranks)) {}

  struct Times {
    std::chrono::steady_clock::duration waited;
    std::chrono::steady_clock::duration stopped;  ///< as by SIGSTOP, not by a debugger
  };
  /// How long this rank has waited for another since then, and for how long the other's process has been seen
  /// stopped. Any thread may call it.
  Times look(int rank, int process, std::chrono::steady_clock::time_point since);

 private:
  struct Seen {
    std::chrono::steady_clock::time_point first, runs, last;  // look, one that saw it run, and look
  };
  std::mutex mutex_;
  std::vector<Seen> seen_;  // by rank
};

}  // namespace sinter::detail::shared_memory
