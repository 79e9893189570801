// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstdint>
#include <cstdio>

namespace sinter::detail::cli {

/// Shows how far an evaluation is: in a terminal on one line, after the first second and then five
/// times a second; elsewhere on a line of its own every 5 seconds.
class EvalProgress {
 public:
  using Clock = std::chrono::steady_clock;

  /// Nothing is shown if `to` is nullptr. `all` is what there is to do, which is called `done` when
  /// it is done.
  EvalProgress(std::FILE* to, std::int64_t all, Clock::time_point begin = Clock::now(),
               std::string_view done = "evaluated");
  /// Removes the line from the terminal.
  ~EvalProgress();
  EvalProgress(const EvalProgress&) = delete;
  EvalProgress& operator=(const EvalProgress&) = delete;

  /// Says that so many are done.
  void at(std::int64_t done, Clock::time_point now = Clock::now());

 private:
  std::FILE* to;
  std::int64_t all;
  std::string_view done_word;
  bool live, drawn = false;
  Clock::time_point next;
};

}  // namespace sinter::detail::cli
