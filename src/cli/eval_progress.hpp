// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstdint>
#include <cstdio>

namespace sinter::detail::cli {

/// Shows the progress of an evaluation. In a terminal this is one line with a bar, written after the
/// first second and then five times a second; elsewhere a new line every 5 seconds.
class EvalProgress {
 public:
  using Clock = std::chrono::steady_clock;

  /// Shows the percentage of `all`, followed by the word `done`. Shows nothing if `to` is nullptr.
  EvalProgress(std::FILE* to, std::int64_t all, Clock::time_point begin = Clock::now(),
               std::string_view done = "evaluated");
  /// Removes the line from the terminal.
  ~EvalProgress();
  EvalProgress(const EvalProgress&) = delete;
  EvalProgress& operator=(const EvalProgress&) = delete;

  /// Updates the count.
  void at(std::int64_t done, Clock::time_point now = Clock::now());

 private:
  std::FILE* to;
  std::int64_t all;
  std::string_view done_word;
  bool live, drawn = false;
  Clock::time_point next;
};

}  // namespace sinter::detail::cli
