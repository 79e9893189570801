// SPDX-License-Identifier: Apache-2.0
// The training loop: stages in their order, around the step.
#pragma once
#include "sinter/trainer/loop_times.hpp"
#include "sinter/trainer/stages.hpp"

namespace sinter {

struct LoopOptions {
  std::int64_t steps = 0;           ///< the loop ends when the trainer has taken so many in all
  std::int64_t evaluate_every = 0;  ///< so many steps; 0 evaluates only at the end
  std::int64_t save_every = 0;      ///< so many steps, beside each new best; 0 saves at the end
  /// Saves, too, when so many have passed since the last; 0: never. Ranks that save together go by rank 0's
  /// clock before each step.
  double save_minutes = 0;
  /// Lets a thread write checkpoints, from a copy of what is to be saved, while training goes on.
  /// The copy takes as much memory as a checkpoint's tensors. Where the machine does not have it,
  /// training waits for the checkpoint, and a warning says so.
  bool save_in_background = true;
  /// Is called with each step when it is in the log.
  std::function<void(const StepRecord&)> on_step{};
  /// Is called with each checkpoint when it is complete, which may be a few steps later.
  std::function<void(const std::filesystem::path&)> on_save{};
  /// Is called if waiting for data or logging costs more than 2 % of the steps (LoopTimes), for
  /// each step that is skipped and each roll back, if a schedule acts on evaluations but none comes
  /// early enough, and for each checkpoint that could not be saved.
  std::function<void(const std::string&)> on_warning{};
  /// Records what the steps and the stages around them take.
  Profile* profile = nullptr;
  /// Is called after each step and between batches of an evaluation; if it returns true, the loop
  /// ends after the step at hand, with a checkpoint. An evaluation that this cuts short is made up
  /// for when the run is resumed. Where ranks are processes, one that returns true ends all of them, a
  /// step or a batch later.
  std::function<bool()> stop{};
};

/// Why a loop has ended.
enum class LoopEnd {
  finished,  // all steps are taken, or the source has ended
  stopped    // LoopOptions::stop said so
};

/// Trains up to a step, and evaluates and saves on the way and at the end. Policies that act on
/// validation losses see those of every evaluate_every-th step alone: where a run happens to stop
/// must not change how it goes on.
///   Trainer<mine> trainer;
///   Loop loop(trainer, ArrayData(…));
///   loop.run({.steps = 1000});
/// With a folder it logs every step and saves checkpoints. If the folder has a checkpoint to go on
/// from, trainer, source and counters are restored: the steps that follow are, bit for bit, those
/// of a run that was never interrupted. A checkpoint that cannot be saved is tried again while an
/// older one is good. Where a step goes wrong, the loop does what the recipe's policy says
/// (Reaction); rows of the log behind the step that it goes back to are dropped, as when a run is
/// resumed. A loop sets no signal handlers and has no global state.
class Loop {
 public:
  /// Where ranks are processes, each runs a loop with the same sources and the same folder, which the
  /// first one writes, and the others see (RunFolder::seen); none has a folder if the first has none.
  /// Each reads its part of the batches (TrainerCore::part()), if its stage has not started to read.
  /// requires  trainer and folder outlive the loop
  /// throws    FileError or ArgumentError if the folder's checkpoint does not fit recipe or data
  Loop(TrainerCore& trainer, ReadStage read, EvaluateStage validation = {},
       RunFolder* folder = nullptr);

  /// Runs the loop. It may be called again with more steps. Whatever is thrown, checkpoints stay as
  /// they were.
  /// throws    ArgumentError if a policy acts on validation losses (Plateau) and there is nothing
  ///           to evaluate (if evaluations only come after the last step, it warns);
  ///           DivergedError, naming the last checkpoint, if a step goes wrong and no policy has
  ///           it go on, or goes back where no checkpoint has been saved; it is a NonFiniteError if
  ///           a loss or gradient is not finite;
  ///           FileError if the log, the first checkpoint or the last one cannot be written. Before
  ///           it is thrown for the log, the state at hand is saved, if that is possible
  LoopEnd run(const LoopOptions& options);

  /// How far the run has come.
  const LoopState& state() const { return state_; }

 private:
  void restore();
  std::int64_t kept_rows() const;
  void mend_best();
  bool is_to_stop(const LoopOptions& options);
  std::filesystem::path newest_good() const;
  void check_evaluations(const LoopOptions& options);
  bool ends(const LoopOptions& options);
  LoopEnd run_stages(const LoopOptions& options);
  std::optional<AppliedStep> take_step(const LoopOptions& options);
  void react_to(const SkippedStep& bad, SamplerState after, const LoopOptions& options);
  std::string skipped_text(const SkippedStep& bad) const;
  void roll_back(const SkippedStep& bad, SamplerState after, const LoopOptions& options);
  static bool is_evaluated(const LoopOptions& options, std::int64_t step);
  void evaluate(AppliedStep& step, const LoopOptions& options);
  void make_up_evaluation(const LoopOptions& options);
  void record(const AppliedStep& step, const LoopOptions& options);
  void save_if(bool due, const LoopOptions& options);
  void save(const LoopOptions& options);
  void end_save(const LoopOptions& options, bool must_succeed);
  void save_has_failed(const FileError& error, const std::filesystem::path& good,
                       const LoopOptions& options);
  void vote(const LoopOptions& options);
  bool save_is_due(const LoopOptions& options, std::int64_t step) const;
  void log_has_failed(const FileError& error, const LoopOptions& options);
  [[noreturn]] void stop_at(const SkippedStep& bad);
  std::string stop_text(const std::string& what, bool wants_back = false);

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
  kernel::Votes own_votes_;  // in the next exchange
  kernel::Votes votes_;      // of all ranks, in the last step
  bool best_is_new_ = false;
  bool saves_best_ = false;  // the checkpoint that is being saved is the best so far
  bool unsaved_ = true;      // something has changed since the newest checkpoint
  using Clock = std::chrono::steady_clock;
  Clock::time_point saved_at_ = Clock::now();  // when the last save began
  Clock::time_point retry_at_ = Clock::time_point::max();
  bool told_of_evaluations_ = false, told_of_waiting_ = false;
};

}  // namespace sinter
