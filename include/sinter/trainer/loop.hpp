// SPDX-License-Identifier: Apache-2.0
// The training loop: stages in their order, around the step.
#pragma once
#include "sinter/trainer/loop_times.hpp"
#include "sinter/trainer/stages.hpp"

namespace sinter {

struct LoopOptions {
  /// The loop ends at this total number of steps of the trainer. It is the horizon of a schedule
  /// that states none.
  std::int64_t steps = 0;
  std::int64_t evaluate_every = 0;  ///< interval in steps; 0 evaluates only at the end
  /// Name of the recipe's metric (RecipeView::metrics) that chooses the best checkpoint; empty or
  /// "loss": the validation loss.
  std::string best_by{};
  /// When the loop ends before `steps`; by default what the recipe's policy says (EarlyStop).
  std::optional<EarlyStopping> early_stop{};
  std::int64_t save_every = 0;  ///< interval in steps, beside each new best; 0 saves at the end
  /// Also saves when this number of minutes has passed since the last save; 0: never. Ranks that
  /// save together use rank 0's clock before each step.
  double save_minutes = 0;
  /// True if a thread writes checkpoints from a copy while training continues. The copy takes as
  /// much memory as a checkpoint's tensors. If the machine does not have it, training waits for the
  /// checkpoint, and a warning reports that.
  bool save_in_background = true;
  /// Called with each step once it is in the log.
  std::function<void(const detail::StepRecord&)> on_step{};
  /// Called with each complete checkpoint, which may be a few steps later.
  std::function<void(const std::filesystem::path&)> on_save{};
  /// Called for each skipped step, each roll back, and each checkpoint that could not be saved.
  /// Also called if waiting for data or logging costs more than 2 % of the steps (LoopTimes), or if
  /// a schedule acts on evaluations and none comes early enough.
  std::function<void(const std::string&)> on_warning{};
  /// Records the time of the steps and of the stages around them.
  Profile* profile = nullptr;
  /// Called after each step and between batches of an evaluation. If it returns true, the loop ends
  /// after the current step, with a checkpoint. A resumed run repeats an evaluation that this
  /// interrupted. If ranks are processes, one that returns true ends all, a step or a batch later.
  std::function<bool()> stop{};
};

/// The reason why a loop has ended.
enum class LoopEnd {
  finished,  ///< all steps are taken, or the source has ended
  stopped,   ///< LoopOptions::stop returned true
  early      ///< evaluations have not improved for as long as EarlyStopping allows
};

/// Trains up to a step, and evaluates and saves on the way and at the end. Policies that act on
/// validation losses see only those of every evaluate_every-th step, so that a stop between them
/// does not change how the run continues.
///   Trainer<mine> trainer;
///   Loop loop(trainer, ArrayData(…));
///   loop.run({.steps = 1000});
/// With a folder it logs every step and saves checkpoints. If the folder has a checkpoint to
/// resume, the loop restores trainer, source and counters. The following steps are bit for bit
/// those of an uninterrupted run. A failed save is tried again, as long as an older checkpoint is
/// good. If a step goes wrong, the loop follows the recipe's policy (Reaction). When it goes back,
/// it drops the log's rows after that step, as a resumed run does. A loop sets no signal handlers
/// and has no global state.
class Loop {
 public:
  /// If ranks are processes, each runs a loop with the same sources and the same folder. Rank 0
  /// writes the folder, and the others see it (RunFolder::seen); none has a folder if rank 0 has
  /// none. Each process reads its part of the batches (TrainerCore::part()), unless its ReadStage
  /// has already started.
  /// requires  trainer and folder outlive the loop
  /// throws    FileError or ArgumentError if the folder's checkpoint does not fit recipe or data
  Loop(TrainerCore& trainer, detail::ReadStage read, detail::EvaluateStage validation = {},
       RunFolder* folder = nullptr);

  /// Runs the loop. It may be called again with more steps. Whatever is thrown, existing
  /// checkpoints stay unchanged.
  /// throws    ArgumentError if a policy acts on evaluations (Plateau, EarlyStop) and there is
  ///           nothing to evaluate (if evaluations only come after the last step, it warns), a
  ///           metric is named that the recipe does not have, or the learning rate is 0 from some
  ///           step to the last;
  /// throws    DivergedError, naming the last checkpoint, if a step goes wrong and no policy
  ///           continues, or one rolls back before a checkpoint was saved (a NonFiniteError if a
  ///           loss or gradient is not finite);
  /// throws    FileError if the log, the first checkpoint or the last one cannot be written. If the
  ///           log cannot, the current state is saved first, if possible
  LoopEnd run(const LoopOptions& options);

  /// Progress of the run.
  const detail::LoopState& state() const { return state_; }

 private:
  void restore();
  std::int64_t kept_rows() const;
  void mend_best();
  bool is_to_stop(const LoopOptions& options);
  std::filesystem::path newest_good() const;
  void check_evaluations(const LoopOptions& options);
  void choose_metrics(const LoopOptions& options);
  void judge(const detail::StepRecord& record, const LoopOptions& options);
  bool has_run_out_of_patience() const;
  bool ends(const LoopOptions& options);
  LoopEnd run_stages(const LoopOptions& options);
  std::optional<detail::AppliedStep> take_step(const LoopOptions& options);
  void react_to(const detail::SkippedStep& bad, SamplerState after, const LoopOptions& options);
  void note_unpredicted(const detail::SkippedStep& bad, const LoopOptions& options);
  std::string skipped_text(const detail::SkippedStep& bad) const;
  void roll_back(const detail::SkippedStep& bad, SamplerState after, const LoopOptions& options);
  static bool is_evaluated(const LoopOptions& options, std::int64_t step);
  void evaluate(detail::AppliedStep& step, const LoopOptions& options);
  void make_up_evaluation(const LoopOptions& options);
  void record(const detail::AppliedStep& step, const LoopOptions& options);
  void save_if(bool due, const LoopOptions& options);
  void save(const LoopOptions& options);
  void end_save(const LoopOptions& options, bool must_succeed);
  void save_has_failed(const FileError& error, const std::filesystem::path& good,
                       const LoopOptions& options);
  void vote(const LoopOptions& options);
  bool save_is_due(const LoopOptions& options, std::int64_t step) const;
  void log_has_failed(const FileError& error, const LoopOptions& options);
  [[noreturn]] void stop_at(const detail::SkippedStep& bad);
  std::string stop_text(const std::string& what, bool wants_back = false);

  TrainerCore& trainer_;
  RunFolder* folder_;
  detail::StepClock clock_;
  LoopTimes times_;
  detail::ReadStage read_;
  detail::StepStage step_;
  detail::EvaluateStage evaluate_;
  detail::RecordStage record_;
  detail::SaveStage save_;
  detail::LoopState state_;
  std::optional<EarlyStopping> stopping_;  // of this call of run()
  SamplerState data_;                      // after the last step, including skipped ones
  std::optional<detail::ReadBatch> next_;
  kernel::Votes own_votes_;  // for the next exchange
  kernel::Votes votes_;      // of all ranks, in the last step
  bool best_is_new_ = false;
  bool saves_best_ = false;  // true if the checkpoint being saved is the best so far
  int unpredicted_ = 0;      // batches in a row in which nothing was to be predicted
  bool unsaved_ = true;      // true if something has changed since the newest checkpoint
  using Clock = std::chrono::steady_clock;
  Clock::time_point saved_at_ = Clock::now();  // when the last save began
  Clock::time_point retry_at_ = Clock::time_point::max();
  bool told_of_evaluations_ = false, told_of_waiting_ = false;
};

}  // namespace sinter
