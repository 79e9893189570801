// SPDX-License-Identifier: Apache-2.0
// The progress that a training run shows.
#pragma once
#include <chrono>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "sinter/trainer/stages.hpp"

namespace sinter::detail::cli {

/// Shows one line with a bar in a terminal, which it overwrites. Elsewhere it writes a line for the
/// first and the last step, for each evaluation, and every 5 seconds. The rates of a line are means
/// over the steps since the line before.
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

  /// `best_step` is that of the best evaluation so far, or 0.
  void step(const StepRecord& record, std::int64_t best_step);
  /// Shows a line that stays.
  void line(const std::string& text);
  /// Shows each line of the text as a warning that stays; those on the time that data and logging
  /// take, and on batches with nothing to predict, as warn_once() does.
  void warn(const std::string& text);
  /// As warn(), but of lines that differ only in their numbers it shows the first, and counts others.
  void warn_once(const std::string& text);
  /// Shows how many warnings were counted instead, and the speed: its mean over the steps, and the
  /// median step's.
  void end();

 private:
  using Clock = std::chrono::steady_clock;
  std::string live_text(const StepRecord& record, bool narrow) const;
  std::string text_of(const StepRecord& record, std::int64_t best_step) const;
  void count(const StepRecord& record);
  std::string left_text(const StepRecord& record) const;
  void show(const std::string& text, bool stays);

  std::FILE* to;
  Scale scale;
  bool live;
  bool drawn = false;  // true if the live line is on the screen
  Clock::time_point shown{};
  double tokens = 0, ms = 0;  // since the last line
  double step_ms = 0;         // moving average
  struct Speed {
    double tokens = 0, ms = 0;
    std::vector<float> rates{};  // of every `stride`-th step
    std::int64_t steps = 0, stride = 1;
  } speed{};
  struct Kind {
    std::string first;
    std::int64_t more = 0;
  };
  std::map<std::string, Kind> warned{};  // by their text without numbers
};

}  // namespace sinter::detail::cli
