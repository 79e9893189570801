// SPDX-License-Identifier: Apache-2.0
// The end of the ranks, and the launch's exit code that follows.
#pragma once
#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace sinter::detail::launch {

/// "Ranks 0, 2 and 3"
std::string ranks_text(const std::vector<int>& ranks);

/// The ranks and their ends.
class Outcome {
  struct Rank {
    pid_t process;
    std::optional<int> end;  // as waitpid() says it
  };
  std::vector<Rank> ranks;
  std::optional<int> first_failed;

 public:
  /// The kind of a process's end.
  enum class End {
    no_rank,  ///< the process is none of a rank
    done,     ///< with 0
    stopped,  ///< with 75, after a signal
    failed,   ///< first of all to fail
    later     ///< after another has failed
  };

  void started(pid_t process) { ranks.push_back({process, {}}); }
  /// Takes the end of a process, as waitpid() gives it.
  End ended(pid_t process, int status);

  /// The ranks that have not ended.
  std::vector<int> running() const;
  /// "Rank 1 (process 4711) was ended by SIGSEGV (core dumped)."
  /// requires  one has failed
  std::string failure() const;
  /// The exit code of the launcher.
  /// requires  all have ended
  int code() const;
};

}  // namespace sinter::detail::launch
