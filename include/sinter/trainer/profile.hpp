// SPDX-License-Identifier: Apache-2.0
// What a training run spends its time on, as a Chrome trace.
#pragma once
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "sinter/plan/plan_view.hpp"

namespace sinter {

class Observer;

/// The stages of the loop around the step.
enum class LoopStage : std::uint8_t { read, step, validate, record, save };
/// The names of the stages in the trace, in the order of LoopStage.
inline constexpr const char* loop_stage_names[]{"read", "step", "evaluate", "record", "save"};

/// Records spans in memory and writes them at the end, as a trace that Perfetto and
/// chrome://tracing open. Each rank is a process. It has a span for each instruction of the
/// programs of training and evaluation (args: step, micro-batch, position in the program), with
/// spans for its layer calls inside; rank 0 also has the stages of the loop. Times are in
/// microseconds since the profile was made.
///
/// There is room for most_events spans. If it does not suffice, the trace ends before the stage of
/// the loop that does not fit, so what it has is whole. Its "otherData" says what it holds.
class Profile {
 public:
  /// Creates the file, or empties it.
  /// requires  plan outlives the profile; ranks >= 1
  /// throws    FileError if the file cannot be written
  Profile(std::filesystem::path file, const PlanView& plan, int ranks,
          std::int64_t most_events = 200'000);
  /// Writes what was recorded if finish() was not called, and passes over errors.
  ~Profile();
  Profile(const Profile&) = delete;

  /// An observer for each rank's machine.
  std::vector<Observer*> observers() const;
  /// Notes that a stage of the loop begins.
  /// requires  no machine is at work
  void begin(LoopStage stage, std::int64_t step);
  /// Notes that it ends.
  /// requires  no machine is at work
  void end();

  /// Writes the file. Returns a sentence that says what it holds and, if a whole step is in it, up
  /// to ten lines that say what took the most time on rank 0.
  /// throws    FileError if the file cannot be written
  std::string finish();

 private:
  struct Recorder;
  std::unique_ptr<Recorder> recorder;
};

}  // namespace sinter
