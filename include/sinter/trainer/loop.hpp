// The training loop: stages in their order, around the step.
#pragma once
#include "sinter/trainer/loop_times.hpp"
#include "sinter/trainer/stages.hpp"

namespace sinter {

struct LoopOptions {
  std::int64_t steps = 0;           // the loop ends when the trainer has taken so many in all
  std::int64_t evaluate_every = 0;  // so many steps; 0 evaluates only at the end
  std::int64_t save_every = 0;      // so many steps, beside each new best; 0 saves at the end
  /// Is called with each step when it is in the log.
  std::function<void(const StepRecord&)> on_step{};
  /// Is called with each checkpoint when it is complete.
  std::function<void(const std::filesystem::path&)> on_save{};
  /// Is called if waiting for data or logging costs more than 2 % of the steps (LoopTimes), for
  /// each step that is skipped, and if a schedule acts on evaluations but none comes early enough.
  std::function<void(const std::string&)> on_warning{};
  /// Records what the steps and the stages around them take.
  Profile* profile = nullptr;
  /// Is called after each step and between batches of an evaluation; if it returns true, the loop
  /// ends after the step at hand, with a checkpoint. An evaluation that this cuts short is made up
  /// for when the run is resumed.
  std::function<bool()> stop{};
};

enum class LoopEnd {
  finished,  // all steps are taken, or the source has ended
  stopped    // LoopOptions::stop said so
};

/// Trains up to a step, and evaluates and saves on the way and at the end.
///   Trainer<mine> trainer;
///   Loop loop(trainer, ArrayData(…));
///   loop.run({.steps = 1000});
/// With a folder it logs every step and saves checkpoints. If the folder has a checkpoint to go on
/// from, trainer, source and counters are restored: the steps that follow are, bit for bit, those
/// of a run that was never interrupted. A loop sets no signal handlers and has no global state.
class Loop {
 public:
  /// requires  trainer and folder outlive the loop
  /// throws    FileError or ArgumentError if the folder's checkpoint does not fit recipe or data
  Loop(TrainerCore& trainer, ReadStage read, EvaluateStage evaluate = {},
       RunFolder* folder = nullptr);

  /// Runs the loop. It may be called again with more steps. Whatever is thrown, checkpoints stay as
  /// they were.
  /// throws    ArgumentError if a policy acts on validation losses (Plateau) and there is nothing
  ///           to evaluate (if evaluations only come after the last step, it warns);
  ///           NonFiniteError if a loss or gradient is not finite, naming the last checkpoint;
  ///           FileError if the log or a checkpoint cannot be written
  LoopEnd run(const LoopOptions& options);

  const LoopState& state() const { return state_; }

 private:
  void restore();
  void mend_best();
  void check_evaluations(const LoopOptions& options);
  bool ends(const LoopOptions& options);
  LoopEnd run_stages(const LoopOptions& options);
  std::optional<AppliedStep> take_step(const LoopOptions& options);
  std::string skipped_text(const SkippedStep& step) const;
  void evaluate(AppliedStep& step, const LoopOptions& options);
  void record(AppliedStep step, const LoopOptions& options);
  void save(const LoopOptions& options);
  [[noreturn]] void stop_at(const SkippedStep& step) const;
  [[noreturn]] void not_finite(const std::string& what, std::int64_t step) const;

  TrainerCore& trainer_;
  RunFolder* folder_;
  StepClock clock_;
  LoopTimes times_;
  ReadStage read_;
  StepStage step_;
  EvaluateStage evaluate_;
  RecordStage record_;
  SaveStage save_;
  LoopState state_;
  SamplerState data_;  // after the last step, skipped ones included
  std::optional<ReadBatch> next_;
  bool best_is_new_ = false;
  bool unsaved_ = true;  // something has changed since the newest checkpoint
  bool told_of_evaluations_ = false;
};

}  // namespace sinter
