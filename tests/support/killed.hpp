// SPDX-License-Identifier: Apache-2.0
// A process that is killed at work.
#pragma once
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace sinter::detail::testing {

/// Lets a process of its own do `work`, which must not end or throw before, and kills it with
/// SIGKILL after so long.
void kill_at_work(auto work, useconds_t after) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    try {
      work();
    } catch (...) {
    }
    ::_exit(3);
  }
  ::usleep(after);
  REQUIRE(::kill(child, SIGKILL) == 0);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
}

}  // namespace sinter::detail::testing
