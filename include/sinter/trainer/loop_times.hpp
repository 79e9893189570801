// What the stages of a loop take, and whether that is too much.
#pragma once
#include <array>
#include <string>

#include "sinter/trainer/profile.hpp"

namespace sinter {

/// Times the stages of a loop. Over intervals of at least a second and 20 steps, the first step of
/// all left out, it compares what waiting for data and logging (row of metrics and progress) take
/// with the time of the steps, and says so where it is more than 2 %: once for each of the two, and
/// again only where it has doubled.
class LoopTimes {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr double most_share = 0.02, least_ms = 1000;
  static constexpr int least_steps = 20;

  /// Begins anew. profile: gets a span for each stage, or nullptr.
  void restart(Profile* profile) { *this = LoopTimes(profile); }
  LoopTimes() = default;

  /// Gives what work() gives, and takes its time. step: the one that it is about.
  auto measure(LoopStage stage, std::int64_t step, auto work) {
    Timer timer(*this, stage, step);
    return work();
  }
  void add(LoopStage stage, Clock::duration time) { spent[std::size_t(stage)] += time; }

  /// A step is done that took step_ms, waiting and logging included. Returns a warning for each
  /// line, mostly nothing.
  std::string lap(double step_ms);

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
  double ms = 0;
  int steps = -1;  // in this interval; -1: the first step of all is under way
  double told_read = most_share / 2, told_record = most_share / 2;  // shares
};

}  // namespace sinter
