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
enum class LoopStage : std::uint8_t { read, step, evaluate, record, save };
inline constexpr const char* loop_stage_names[]{"read", "step", "evaluate", "record", "save"};

/// Records spans in memory and writes them at the end, as a trace that Perfetto and
/// chrome://tracing open: a process for each rank, in it a span for each instruction of the
/// programs of training and evaluation (args: step, micro-batch, position in the program) and
/// nested spans for its layer calls; rank 0 has the stages of the loop, too. Times are in
/// microseconds since the profile was made.
///
/// There is room for most_events spans. Where they do not suffice, the trace ends before the stage
/// of the loop that did not fit: what it has is whole. Its "otherData" says what it holds.
class Profile {
 public:
  /// Creates the file, or empties it.
  /// requires  plan outlives the profile; ranks >= 1
  /// throws    FileError where the file cannot be written
  Profile(std::filesystem::path file, const PlanView& plan, int ranks,
          std::int64_t most_events = 200'000);
  /// Writes what was recorded, if finish() was not called; errors are not told.
  ~Profile();
  Profile(const Profile&) = delete;

  /// For each rank's machine.
  std::vector<Observer*> observers() const;
  /// A stage of the loop begins or ends. No machine may be at work.
  void begin(LoopStage stage, std::int64_t step);
  void end();

  /// Writes the file. Returns what it holds, in a sentence.
  /// throws  FileError
  std::string finish();

 private:
  struct Recorder;
  std::unique_ptr<Recorder> recorder;
};

}  // namespace sinter
