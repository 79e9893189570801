// SPDX-License-Identifier: Apache-2.0
// One run of train: train.cpp opens it and trains, training_reports.cpp says what becomes of it.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "cli/data_request.hpp"
#include "cli/events.hpp"
#include "cli/progress.hpp"
#include "cli/run_record.hpp"
#include "cli/validation.hpp"
#include "cli/verbs.hpp"
#include "sinter/files/run_folder.hpp"
#include "sinter/trainer/loop.hpp"

namespace sinter::detail::cli {

/// One training run, from its pieces to its summary.
class Run {
 public:
  Run(std::shared_ptr<RecipeView> r, const Arguments& given);
  int train();

 private:
  /// Decides whether --resume=auto resumes or begins.
  void settle_resume();
  /// Opens the run's folder, which only rank 0 writes.
  std::unique_ptr<RunFolder> folder_at(const std::filesystem::path& path, RunFolder::Mode mode);
  void open_to_resume();
  void require_same_special_tokens() const;
  /// Sets the number of steps, unless its last ones could not learn.
  void settle_length(std::int64_t steps);
  const CheckpointReader* resume_point() const;
  void check_steps() const;
  World world() const;
  /// Refuses a profile at or below a data path: it would overwrite text, or the next run would read
  /// it as text.
  void check_profile() const;
  void check_evaluations() const;
  ReadStage read_stage();
  void make_loop();

  // What is said, in training_reports.cpp.
  void report(const std::string& text) const;
  /// Makes the reports of rank 0, beside checkpoints.
  void make_reports();
  /// Reports, after the first step, the memory that layers took outside the arena.
  void report_unplanned_memory();
  /// Reports which flags have no effect without evaluations.
  void note_without_evaluations() const;
  std::string header() const;
  std::string end_text(LoopEnd end) const;
  /// Counts an evaluation, and whether it could choose the best checkpoint.
  void count_evaluation(const StepRecord& record);
  /// A warning if none of the evaluations could; else an empty text.
  std::string best_is_missing() const;
  void finish(LoopEnd end);

  std::shared_ptr<RecipeView> recipe;
  Arguments a;
  LoopOptions options;
  std::optional<Profile> profile;
  std::unique_ptr<RunFolder> folder;
  std::optional<RunRecord> record;
  std::optional<Events> events;
  OpenedData data;
  Validation validation;
  bool is_evaluated = false;
  DataWatch watch{nullptr};
  std::unique_ptr<TrainerCore> trainer;
  std::unique_ptr<Loop> loop;
  std::unique_ptr<Progress> progress;
  double seconds = 0;
  int evaluations = 0, figures = 0;  // figures: those whose metric of --best-by was a number
  bool measured = false;             // true once that memory is reported
  bool ends_with_data = false;
  std::string length;  // what --epochs or --examples come to
};

}  // namespace sinter::detail::cli
