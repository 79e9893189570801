// SPDX-License-Identifier: Apache-2.0
// What ends a process.
#pragma once
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>

namespace sinter::detail::testing {

/// How a process ended.
struct Ended {
  int signal = 0;     ///< that ended it; 0: it ended by itself
  std::string error;  ///< what it wrote to its standard error
};

/// Lets a process of its own do `work`, and says how that ended.
Ended ended_by(auto work) {
  int pipe[2];
  REQUIRE(::pipe(pipe) == 0);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    std::signal(SIGSEGV, SIG_DFL);  // doctest's handlers would report a test that fails
    std::signal(SIGABRT, SIG_DFL);
    ::dup2(pipe[1], 2);
    work();
    ::_exit(0);
  }
  ::close(pipe[1]);
  Ended ended;
  char bytes[512];
  for (ssize_t n; (n = ::read(pipe[0], bytes, sizeof bytes)) > 0;)
    ended.error.append(bytes, std::size_t(n));
  ::close(pipe[0]);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  if (WIFSIGNALED(status)) ended.signal = WTERMSIG(status);
  return ended;
}

}  // namespace sinter::detail::testing
