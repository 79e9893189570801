// SPDX-License-Identifier: Apache-2.0
// The progress that a training run shows.
#pragma once
#include <chrono>
#include <cstdio>
#include <string>

#include "sinter/trainer/stages.hpp"

namespace sinter::detail::cli {

/// Shows one line in a terminal, which it overwrites. Elsewhere it writes a line for the first and
/// the last step, for each evaluation, and every 5 seconds.
class Progress {
 public:
  struct Scale {
    std::int64_t steps;      // the last one
    double flops_per_token;  // of forward and backward
  };
  /// Nothing is shown if `to` is nullptr.
  Progress(std::FILE* to, Scale scale);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void step(const StepRecord& record);
  /// Shows a line that stays.
  void line(const std::string& text);
  /// Shows each line of the text as a warning that stays.
  void warn(const std::string& text);

 private:
  using Clock = std::chrono::steady_clock;
  std::string text_of(const StepRecord& record, bool narrow) const;
  void show(const std::string& text, bool stays);

  std::FILE* to;
  Scale scale;
  bool live;
  bool drawn = false;  // true if the live line is on the screen
  Clock::time_point shown{};
  double tokens = 0, ms = 0;  // since the last line
  double step_ms = 0;         // moving average
};

}  // namespace sinter::detail::cli
