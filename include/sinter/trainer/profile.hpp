// SPDX-License-Identifier: Apache-2.0
// Where a training run spends its time, as a Chrome trace.
#pragma once
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "sinter/plan/plan_view.hpp"

namespace sinter {

namespace detail {
class Observer;

/// The stages of the loop around the step.
enum class LoopStage : std::uint8_t { read, step, validate, record, save };
/// The names of the stages in the trace, in the order of LoopStage.
inline constexpr const char* loop_stage_names[]{"read", "step", "evaluate", "record", "save"};
}  // namespace detail

/// Records spans in memory and writes them at the end, as a trace for Perfetto or chrome://tracing.
/// Each rank is a process of the trace. Each instruction of the training and evaluation programs
/// has a span (args: step, micro-batch, position in the program), with spans for its layer calls
/// inside. Rank 0 also has the stages of the loop. Times are in microseconds since the profile was
/// made.
///
/// There is room for max_events spans. If that does not suffice, the trace ends before the stage
/// of the loop that does not fit, so that all its stages are whole. Its "otherData" describes what
/// it holds.
class Profile {
 public:
  /// Creates the file, or empties it.
  /// requires  plan outlives the profile; ranks >= 1
  /// throws    FileError if the file cannot be written
  Profile(std::filesystem::path file, const detail::PlanView& plan, int ranks,
          std::int64_t max_events = 200'000);
  /// Writes the recorded spans if finish() was not called, and ignores errors.
  ~Profile();
  Profile(const Profile&) = delete;

  /// Returns one observer per rank, for its machine.
  std::vector<detail::Observer*> observers() const;
  /// Records the beginning of a stage of the loop.
  /// requires  no machine is at work
  void begin(detail::LoopStage stage, std::int64_t step);
  /// Records the end of the stage.
  /// requires  no machine is at work
  void end();

  /// Writes the file. Returns a sentence about its content and, if it has a whole step, up to ten
  /// lines with the largest costs on rank 0.
  /// throws    FileError if the file cannot be written
  std::string finish();

 private:
  struct Recorder;
  std::unique_ptr<Recorder> recorder;
};

}  // namespace sinter
