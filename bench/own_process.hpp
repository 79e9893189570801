// SPDX-License-Identifier: Apache-2.0
// Measurements in processes of their own, whose memory and threads are theirs alone.
#pragma once
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <optional>
#include <type_traits>

namespace sinter::detail::bench {

/// What a process of its own has found, and the peak of its memory.
template <class Found>
struct Alone {
  Found found;
  double peak_mib;
};

/// Calls measure() in a process of its own, which ends with this one. Returns nothing if that failed;
/// standard error says why unless it was killed.
/// requires  this process has no other threads
template <class Measure, class Found = std::invoke_result_t<Measure&>>
  requires std::is_trivially_copyable_v<Found>
std::optional<Alone<Found>> measure_alone(Measure&& measure) {
  int ends[2];
  if (pipe(ends) != 0) return {};
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    try {
      const Found found = measure();
      _exit(write(ends[1], &found, sizeof found) == sizeof found ? 0 : 1);
    } catch (const std::exception& e) {
      std::fprintf(stderr, "error: %s\n", e.what());
      _exit(1);
    }
  }
  close(ends[1]);
  Alone<Found> alone{};
  const bool whole = read(ends[0], &alone.found, sizeof alone.found) == sizeof alone.found;
  close(ends[0]);
  int status = 0;
  rusage usage{};
  wait4(child, &status, 0, &usage);
  alone.peak_mib = double(usage.ru_maxrss) / 1024;
  return whole && status == 0 ? std::optional(alone) : std::nullopt;
}

}  // namespace sinter::detail::bench
