// SPDX-License-Identifier: Apache-2.0
#include "sinter/trainer/loop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "files/run_link.hpp"
#include "sinter/error.hpp"
#include "sinter/files/run_folder.hpp"
#include "trainer/loop_state.hpp"
#include "trainer/run_length.hpp"

namespace sinter {
using namespace detail;
namespace {

/// The loss of an evaluation, or the figure of a metric.
double figure_of(const StepRecord& record, const std::string& metric) {
  if (metric.empty()) return *record.validation_loss;
  return std::ranges::find(record.metrics, metric, &MetricValue::name)->value;
}

/// True if a figure is better than the best by more than min_delta. None is better than NaN, and any
/// number than an infinite best, which stands for none.
bool is_better(const RecipeView& recipe, const std::string& metric, double figure, double best,
               double min_delta) {
  if (std::isnan(figure)) return false;
  if (!std::isfinite(best)) return true;
  const Metric* named = metric_named(recipe, metric, "");
  const bool greater = named && named->greater_is_better;
  return greater ? figure > best + min_delta : figure < best - min_delta;
}

}  // namespace

Loop::Loop(TrainerCore& trainer, ReadStage read, EvaluateStage evaluate, RunFolder* folder)
    : trainer_(trainer),
      folder_(folder),
      read_(std::move(read)),
      step_(trainer, clock_),
      evaluate_(std::move(evaluate)),
      save_(trainer, folder),
      data_(read_.state()) {
  if (!read_.has_started()) read_.need(trainer.part());
  if (folder_ && folder_->resume_point()) restore();
  read_.start();
  if (save_) record_ = RecordStage(*folder_, kept_rows());
}

/// Returns the number of log rows to keep. A row whose evaluation is due will be written again.
std::int64_t Loop::kept_rows() const {
  return trainer_.steps() - (state_.evaluation_due && evaluate_ ? 1 : 0);
}

void Loop::restore() {
  const CheckpointReader& from = *folder_->resume_point();
  SavedLoop saved;
  try {
    saved = loop_state_of(from.info());
  } catch (const Error& error) {
    throw FileError("Cannot resume from " + from.folder().string() + ": " + error.what() + ".");
  }
  trainer_.restore(from);
  saved.data.end = data_.end;  // the source that was given says where it ends
  read_.restore(saved.data);
  state_ = saved.state;
  data_ = saved.data;
  unsaved_ = false;
  mend_best();
  folder_->remove_old();
}

/// Repairs the link to the best checkpoint, as a crash may have come between the two. Forgets a
/// best checkpoint that no longer exists. What rank 0 finds holds for all.
void Loop::mend_best() {
  if (!std::isfinite(state_.best)) return;
  std::error_code ignored;
  const std::filesystem::path link = folder_->path() / "best",
                              name = step_folder_name(state_.best_step);
  bool is_there = folder_->writes() && std::filesystem::exists(folder_->path() / name, ignored);
  if (is_there && read_run_link(link) != name) write_run_link(link, name);
  is_there = trainer_.sum_over_processes(is_there) > 0;
  if (!is_there) state_.best = LoopState{}.best;
}

/// Settles which metric chooses the best checkpoint, and which one ends the run early.
void Loop::choose_metrics(const LoopOptions& options) {
  const RecipeView& recipe = trainer_.recipe();
  metric_named(recipe, recipe.watches, "the recipe's " + std::string(recipe.acts_on_evaluations));
  const Metric* best = metric_named(recipe, options.best_by, "best_by");
  std::string by(best ? best->name : "");
  const bool is_new = by != state_.best_by;
  if (is_new) state_.best = LoopState{}.best;
  state_.best_by = std::move(by);
  stopping_ = options.early_stop ? options.early_stop : recipe.early_stop();
  if (!stopping_) return;
  if (stopping_->patience < 1 || !(stopping_->min_delta >= 0))
    throw ArgumentError(
        fmt::format("Early stopping needs a patience of at least 1 and a min_delta of at least 0, "
                    "not {} and {}.",
                    stopping_->patience, stopping_->min_delta));
  if (stopping_->metric.empty()) {  // it watches what best_by names, so that it begins anew with it
    stopping_->metric = state_.best_by;
    if (is_new) state_.patient_best = LoopState{}.patient_best, state_.waited = 0;
  }
  const Metric* watched = metric_named(recipe, stopping_->metric, "EarlyStop");
  stopping_->metric = watched ? watched->name : "";
}

/// Keeps what an evaluation says of the best checkpoint.
void Loop::judge(const StepRecord& record, const LoopOptions& options) {
  const RecipeView& recipe = trainer_.recipe();
  const double figure = figure_of(record, state_.best_by);
  if (is_better(recipe, state_.best_by, figure, state_.best, 0)) {
    state_.best = figure;
    state_.best_step = record.step;
    best_is_new_ = true;
  }
  if (!stopping_ || !is_evaluated(options, record.step)) return;
  const double patient = figure_of(record, stopping_->metric);
  if (is_better(recipe, stopping_->metric, patient, state_.patient_best, stopping_->min_delta)) {
    state_.patient_best = patient;
    state_.waited = 0;
  } else {
    ++state_.waited;
  }
}

bool Loop::has_run_out_of_patience() const {
  return stopping_ && state_.waited >= stopping_->patience;
}

/// Checks that what acts on evaluations will get some.
void Loop::check_evaluations(const LoopOptions& options) {
  const RecipeView& recipe = trainer_.recipe();
  const std::int64_t every = options.evaluate_every, steps = trainer_.steps();
  if ((recipe.acts_on_evaluations.empty() && !stopping_) || steps >= options.steps) return;
  const std::string who =
      stopping_ ? "early stopping" : fmt::format("the recipe's {}", recipe.acts_on_evaluations);
  if (!evaluate_)
    throw ArgumentError(
        fmt::format("{} acts on validation losses, but this loop has nothing to evaluate, so it "
                    "would never act. "
                    "Give the loop an evaluation, or leave this out.",
                    who));
  const bool in_time = every > 0 && (steps / every + 1) * every < options.steps;
  if (in_time || told_of_evaluations_ || !options.on_warning) return;
  told_of_evaluations_ = true;
  options.on_warning(
      fmt::format("{} acts on validation losses, but the first one comes after step {}, the last, "
                  "so they change "
                  "nothing in this run. Evaluate more often (evaluate_every; --eval-every N).",
                  who, options.steps));
}

/// True if the last step was the final one. Otherwise reads the next batch.
bool Loop::ends(const LoopOptions& options) {
  if (trainer_.steps() >= options.steps) return true;
  if (next_) return false;
  try {
    next_ = times_.measure(LoopStage::read, trainer_.steps() + 1, [&] { return read_(); });
  } catch (...) {
    trainer_.give_up();  // the others have a part of this batch, too, and wait for this process
    throw;
  }
  return !next_;
}

/// Takes a step with the batch that was read, and uses it up. Returns none if the step was not
/// applied, and training continues.
std::optional<AppliedStep> Loop::take_step(const LoopOptions& options) {
  vote(options);
  auto outcome = times_.measure(LoopStage::step, trainer_.steps() + 1,
                                [&] { return step_(*next_, state_.last.tokens); });
  votes_ = trainer_.votes();
  SamplerState after = std::move(next_->after);
  read_.recycle(std::move(next_->batch));
  next_.reset();
  unsaved_ = true;
  if (auto* applied = std::get_if<AppliedStep>(&outcome)) {
    unpredicted_ = 0;
    return std::move(*applied);
  }
  const SkippedStep& skipped = std::get<SkippedStep>(outcome);
  react_to(skipped, std::move(after), options);
  return std::nullopt;
}

/// True if a step is evaluated wherever the run may stop.
bool Loop::is_evaluated(const LoopOptions& options, std::int64_t step) {
  return options.evaluate_every > 0 && step % options.evaluate_every == 0;
}

void Loop::evaluate(AppliedStep& step, const LoopOptions& options) {
  clock_.pause([&] {
    const auto begin = Clock::now();
    std::optional<Evaluation> found = times_.measure(LoopStage::validate, step.record.step, [&] {
      return evaluate_(trainer_, [&] { return is_to_stop(options); });
    });
    if (!found) return;
    const std::chrono::duration<double, std::milli> taken = Clock::now() - begin;
    step.record.validation_loss = found->loss.mean();
    step.record.metrics = std::move(found->metrics);
    step.record.evaluation_ms = taken.count();
  });
  step.evaluation_due = !step.record.validation_loss;
  if (step.evaluation_due) return;
  double loss = *step.record.validation_loss;
  if (!std::isfinite(loss))
    throw NonFiniteError(
        stop_text(fmt::format("The validation loss of step {} is not finite", step.record.step)));
  if (is_evaluated(options, step.record.step)) trainer_.after_evaluation(loss, step.record.metrics);
  judge(step.record, options);
}

void Loop::record(const AppliedStep& step, const LoopOptions& options) {
  state_.last = step.record;
  state_.evaluation_due = step.evaluation_due;
  data_ = step.data;
  try {
    times_.measure(LoopStage::record, state_.last.step, [&] { record_(step, options.on_step); });
  } catch (const FileError& error) {
    log_has_failed(error, options);
  }
  std::string warnings = times_.lap(state_.last.step_ms);
  if (!warnings.empty() && options.on_warning) options.on_warning(warnings);
}

LoopEnd Loop::run(const LoopOptions& options) {
  trainer_.set_run_steps(options.steps);
  require_steps_that_learn(trainer_.recipe(), trainer_.steps());
  choose_metrics(options);
  check_evaluations(options);
  if (trainer_.steps() < options.steps) evaluate_.require_predictions(trainer_);
  if (save_ && trainer_.steps() < options.steps)
    folder_->require_room(std::uint64_t(trainer_.plan().memory.saved()));
  times_.restart(options.profile);
  if (!options.profile) return run_stages(options);
  trainer_.observe(options.profile->observers());
  struct Observed {
    TrainerCore& trainer;
    ~Observed() { trainer.observe({}); }
  } until_the_end{trainer_};
  return run_stages(options);
}

/// Does the evaluation that a stop has cut short.
void Loop::make_up_evaluation(const LoopOptions& options) {
  if (!state_.evaluation_due || !evaluate_) return;
  AppliedStep again;
  again.record = state_.last;
  again.data = data_;
  evaluate(again, options);
  record(again, options);
  save_if(!state_.evaluation_due, options);
}

/// Votes, for the next step or evaluation, if this process is to stop.
bool Loop::is_to_stop(const LoopOptions& options) {
  own_votes_.stop = options.stop && options.stop();
  trainer_.vote(own_votes_);
  return trainer_.votes().stop > 0;
}

LoopEnd Loop::run_stages(const LoopOptions& options) {
  auto stops = [&] { return is_to_stop(options); };
  clock_.restart();
  make_up_evaluation(options);
  bool stopped = stops(), last_is_skipped = false, early = has_run_out_of_patience();
  for (bool last = ends(options); !last && !stopped && !early;) {
    std::optional<AppliedStep> step = take_step(options);
    last = ends(options);
    if (!step) {
      last_is_skipped = last;
      stopped = stops();
      continue;
    }
    if (evaluate_ && (last || is_evaluated(options, trainer_.steps()))) evaluate(*step, options);
    early = !last && has_run_out_of_patience();
    record(*step, options);
    stopped = stops() && !(last && !state_.evaluation_due);
    save_.count(votes_);
    if (save_.has_ended()) end_save(options, false);
    const bool is_due =
        save_.is_together() ? votes_.save > 0 : save_is_due(options, trainer_.steps());
    save_if(last || stopped || early || best_is_new_ || is_due, options);
  }
  save_if((stopped || last_is_skipped) && unsaved_, options);
  end_save(options, true);
  return stopped ? LoopEnd::stopped : early ? LoopEnd::early : LoopEnd::finished;
}

}  // namespace sinter
