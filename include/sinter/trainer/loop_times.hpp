// SPDX-License-Identifier: Apache-2.0
// What the stages of a loop take, and whether that is too much.
#pragma once
#include <array>
#include <string>

#include "sinter/trainer/profile.hpp"

namespace sinter {

/// Times the stages of a loop. Over intervals of at least a second and 20 steps, without the very
/// first step, it compares what waiting for data and logging (a row of metrics and progress) take
/// with the time of the steps, and warns if that is more than 2 %: once of each of the two, and
/// again only if it has doubled.
class LoopTimes {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr double most_share = 0.02, least_ms = 1000;
  static constexpr int least_steps = 20;

  /// Begins anew. The profile gets a span for each stage, unless it is nullptr.
  void restart(Profile* into) { *this = LoopTimes(into); }
  LoopTimes() = default;

  /// Returns what work() returns, and adds the time it takes. `step` is the one that it is about.
  auto measure(LoopStage stage, std::int64_t step, auto work) {
    Timer timer(*this, stage, step);
    return work();
  }
  /// Adds time that a stage has taken.
  void add(LoopStage stage, Clock::duration time) { spent[std::size_t(stage)] += time; }

  /// Ends a step that took step_ms, waiting and logging included. Returns warnings, one in a line;
  /// most often none.
  [[nodiscard]] std::string lap(double step_ms);

 private:
  struct Timer {
    LoopTimes& times;
    LoopStage stage;
    Clock::time_point begin = Clock::now();

    Timer(LoopTimes& t, LoopStage s, std::int64_t step) : times(t), stage(s) {
      if (times.profile) times.profile->begin(stage, step);
    }
    ~Timer() {
      times.add(stage, Clock::now() - begin);
      if (times.profile) times.profile->end();
    }
  };

  explicit LoopTimes(Profile* p) : profile(p) {}
  double milliseconds(LoopStage stage) const;
  bool too_much(LoopStage stage, double& told) const;

  Profile* profile = nullptr;
  std::array<Clock::duration, std::size(loop_stage_names)> spent{};  // in this interval
  double ms = 0;   // of the steps in this interval
  int steps = -1;  // in this interval; -1 while the very first step is under way
  double told_read = most_share / 2, told_record = most_share / 2;  // the shares last warned of
};

}  // namespace sinter
