// The training loop: stages in their order, around the step.
#pragma once
#include "sinter/trainer/loop_times.hpp"
#include "sinter/trainer/stages.hpp"

namespace sinter {

struct LoopOptions {
  std::int64_t steps = 0;           // absolute: it ends when the trainer has taken so many
  std::int64_t evaluate_every = 0;  // steps; 0: only at the end
  std::int64_t save_every = 0;      // steps; 0: only at the end. A new best is always saved.
  /// Told of each step, when it is in the log.
  std::function<void(const StepRecord&)> on_step{};
  /// Told of each checkpoint, when it is complete.
  std::function<void(const std::filesystem::path&)> on_save{};
  /// Told where waiting for data or logging costs more than 2 % of the steps (LoopTimes), of each
  /// step that is skipped, and of a schedule that no evaluation comes early enough for.
  std::function<void(const std::string&)> on_warning{};
  /// Gets what the steps and the stages around them take.
  Profile* profile = nullptr;
  /// Asked after each step and between batches of an evaluation: true ends the loop after the step
  /// at hand, with a checkpoint. An evaluation that is cut short so is made up for by who resumes.
  std::function<bool()> stop{};
};

enum class LoopEnd { finished, stopped };  // finished: all steps taken, or the source has ended

/// Trains until a step, evaluates and saves on the way and at the end.
///   Trainer<mine> trainer;
///   Loop loop(trainer, ArrayData(…));
///   loop.run({.steps = 1000});
/// With a folder it logs every step and saves checkpoints; where the folder has a checkpoint to go
/// on from, trainer, source and counters are restored: the steps that follow are, bit for bit,
/// those of a run that was never interrupted. Sets no signal handlers, has no global state.
class Loop {
 public:
  /// requires  trainer and folder outlive the loop
  /// throws    FileError, ArgumentError where the folder's checkpoint does not fit recipe or data
  Loop(TrainerCore& trainer, ReadStage read, EvaluateStage evaluate = {},
       RunFolder* folder = nullptr);

  /// May be called again with more steps.
  /// throws  ArgumentError where a policy acts on validation losses (Plateau) and there is nothing
  ///         to evaluate; where there is, but only after the last step, it warns.
  ///         NonFiniteError where a loss or gradient is not finite; it names the last checkpoint.
  ///         FileError where log or checkpoint cannot be written. Checkpoints stay as they were.
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
  bool unsaved_ = true;  // since the newest checkpoint something has changed
  bool told_of_evaluations_ = false;
};

}  // namespace sinter
