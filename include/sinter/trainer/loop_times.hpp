// SPDX-License-Identifier: Apache-2.0
// Times the stages of a loop, and warns if they take too long.
#pragma once
#include <array>
#include <string>

#include "sinter/trainer/profile.hpp"

namespace sinter {

/// Times the stages of a loop. Warns if waiting for data, or logging (a row of metrics and
/// progress), takes more than 2 % of the steps' time. Each is measured over intervals of at least a
/// second and 20 steps, without the very first step. Warns again of the same one only if its share
/// has doubled.
class LoopTimes {
 public:
  using Clock = std::chrono::steady_clock;  ///< the clock of all times
  /// The share of steps' time from which it warns, and the minimum length of an interval.
  static constexpr double max_share = 0.02, min_ms = 1000;
  static constexpr int min_steps = 20;  ///< minimum steps of an interval

  /// Starts again. The profile gets a span for each stage, unless it is nullptr.
  void restart(Profile* into) { *this = LoopTimes(into); }
  LoopTimes() = default;

  /// Calls work(), adds the time it takes, and returns its result. `step` is the current step.
  auto measure(detail::LoopStage stage, std::int64_t step, auto work) {
    Timer timer(*this, stage, step);
    return work();
  }
  /// Adds the time of a stage.
  void add(detail::LoopStage stage, Clock::duration time) { spent[std::size_t(stage)] += time; }

  /// Ends a step that took step_ms, including waiting and logging. Returns warnings, one per line,
  /// mostly none.
  [[nodiscard]] std::string lap(double step_ms);

 private:
  struct Timer {
    LoopTimes& times;
    detail::LoopStage stage;
    Clock::time_point begin = Clock::now();

    Timer(LoopTimes& t, detail::LoopStage s, std::int64_t step) : times(t), stage(s) {
      if (times.profile) times.profile->begin(stage, step);
    }
    ~Timer() {
      times.add(stage, Clock::now() - begin);
      if (times.profile) times.profile->end();
    }
  };

  explicit LoopTimes(Profile* p) : profile(p) {}
  double milliseconds(detail::LoopStage stage) const;
  bool too_much(detail::LoopStage stage, double& warned) const;

  Profile* profile = nullptr;
  std::array<Clock::duration, std::size(detail::loop_stage_names)> spent{};  // in this interval
  double ms = 0;   // of the steps in this interval
  int steps = -1;  // in this interval; -1 while the very first step is under way
  double warned_read = max_share / 2, warned_record = max_share / 2;  // shares of the last warnings
};

}  // namespace sinter
