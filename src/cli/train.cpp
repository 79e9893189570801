// SPDX-License-Identifier: Apache-2.0
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "cli/class_order.hpp"
#include "cli/launched.hpp"
#include "cli/length.hpp"
#include "cli/output.hpp"
#include "cli/plan_text.hpp"
#include "cli/resume.hpp"
#include "cli/run_files.hpp"
#include "cli/signals.hpp"
#include "cli/training_run.hpp"
#include "trainer/run_length.hpp"

namespace sinter::detail::cli {
namespace {

constexpr std::int64_t usual_interval = 100;  // steps between evaluations, and between checkpoints
constexpr int usual_keep = 2;                 // checkpoints

/// Returns the folder for offloaded state: --scratch, or one on the disk of the run's folder, which
/// may not exist yet. The file there has no name.
std::filesystem::path scratch_of(const Arguments& a) {
  if (!a.scratch.empty()) return a.scratch;
  std::error_code ignored;
  std::filesystem::path folder = std::filesystem::absolute(a.out.value_or("."), ignored);
  while (!std::filesystem::is_directory(folder, ignored) && folder.has_relative_path())
    folder = folder.parent_path();
  return folder;
}

void check_training(const RecipeView& recipe, const Arguments& a) {
  require_one_length(a);
  require_data(recipe, a.verb);
  require_tokenizer_is_used(recipe, a);
  require_special_tokens_are_put(recipe, a);
  require_text_is_read(recipe, a);
  require_flag(!a.data.empty() || a.resume, "--data PATH...", a.verb);
  (void)holds_out(a);
  if (a.resume && a.weights && !a.resume_or_begin)
    throw UsageError("--resume and --weights exclude each other: the checkpoint has the weights.");
  if (a.resume && a.adapter && !a.resume_or_begin)
    throw UsageError("--resume and --adapter exclude each other: the checkpoint has the adapters.");
  if (a.adapter && !a.resume) require_flag(a.weights.has_value(), "--weights PATH", a.verb);
  (void)metric_named(recipe, a.best_by.value_or(""), "--best-by");
  if (a.resume && !a.out) throw UsageError("--resume needs --out DIR, the folder of the run.");
  std::error_code ignored;
  for (const std::string& path : a.data)
    if (!a.resume && a.out && std::filesystem::is_directory(path, ignored) &&
        std::filesystem::equivalent(path, *a.out, ignored))
      throw UsageError(
          fmt::format("--out {} is a data path, too, so that --resume would read the run's own "
                      "checkpoints as text. Name a folder of its own, such as {}/runs/first.",
                      *a.out, *a.out));
}

/// Returns the interval at which evaluations take a tenth of the time, but at least the usual one.
/// The forward of a token costs a third of its forward and backward.
std::int64_t affordable_interval(std::int64_t held_out, std::int64_t tokens_per_step) {
  double steps = double(held_out) / (0.1 * 3 * double(tokens_per_step));
  return std::max(usual_interval, std::int64_t(std::ceil(steps)));
}

}  // namespace

Run::Run(std::shared_ptr<RecipeView> r, const Arguments& given) : recipe(std::move(r)), a(given) {
  skip_generation_if_asked(*recipe, a);
  check_training(*recipe, a);
  if (a.resume_or_begin) settle_resume();
  if (a.resume) open_to_resume();
  if (a.weights) report(require_same_classes(*recipe, a));
  const bool by_data = a.epochs || a.examples;
  if (!by_data) settle_length(last_step(*recipe, a));
  check_profile();
  data = open_training_data(*recipe, a);
  report(data.notes);
  if (!a.validation.empty()) {
    validation = open_validation(*recipe, a, data);
    report(validation.notes);
  }
  if (by_data) {
    const LengthByData counted = length_by_data(*data.training, a, resume_point());
    length = counted.text;
    settle_length(counted.steps);
  } else if (!a.steps) {
    keep_end(*data.training, resume_point());
  }
  ends_with_data = data.training->state().end > 0;
  watch = DataWatch(data.changed);
  check_evaluations();
  trainer = std::make_unique<TrainerCore>(
      recipe,
      TrainerSettings{a.seed.value_or(0), a.threads, a.pin, world(), scratch_of(a), options.steps});
  trainer->require_memory_to_train();
  if (a.weights) report(trainer->load_weights(*a.weights, "", MissingHead::starts_fresh));
  if (a.adapter && !a.resume) report(trainer->load_adapter(*a.adapter));
  make_loop();
}

int Run::train() {
  auto begin = std::chrono::steady_clock::now();
  LoopEnd end = loop->run(options);
  seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  note_lines(folder->take_warnings());
  if (is_first(a)) finish(end);
  if (profile) report(profile->finish());
  return end == LoopEnd::stopped ? exit_stopped : exit_done;
}

void Run::settle_resume() {
  a.resume = RunFolder::holds_checkpoints(*a.out);
  if (a.resume) {
    a.weights.reset();  // they are for a new run only
    a.adapter.reset();
    return;
  }
  require_flag(!a.data.empty(), "--data PATH...", a.verb);
  require_good_options(*recipe);
  report(fmt::format("there is no checkpoint in {}, so a new run begins.", *a.out));
}

std::unique_ptr<RunFolder> Run::folder_at(const std::filesystem::path& path, RunFolder::Mode mode) {
  return is_first(a) ? std::make_unique<RunFolder>(path, mode, a.keep.value_or(usual_keep))
                     : std::make_unique<RunFolder>(RunFolder::seen(path, mode));
}

void Run::open_to_resume() {
  folder = folder_at(*a.out, RunFolder::Mode::resume);
  note_lines(folder->take_warnings());
  record.emplace(folder->path());
  report(record->take_over_data(a));
  require_same_special_tokens();
  record->take_over_special_tokens(a);
  record->take_over_tensorboard(a);
  record->take_over_keep(a);
  record->take_over_best_by(a);
  folder->keep_newest(a.keep.value_or(usual_keep));
  report(take_over(*folder->resume_point(), *recipe, a));
}

/// Refuses other texts than the run began with: its place in the data would be another.
void Run::require_same_special_tokens() const {
  Arguments of_run = a;
  of_run.special_tokens.reset();
  record->take_over_special_tokens(of_run);
  if (!a.special_tokens || a.special_tokens == of_run.special_tokens) return;
  const auto word = [](bool on) { return on ? "on" : "off"; };
  throw UsageError(
      fmt::format("--special-tokens {0} does not fit the run in {1}, which began with texts as "
                  "--special-tokens "
                  "{2} gives them, and goes on with these. Leave it out; or begin a new run with "
                  "--special-tokens "
                  "{0} --weights {1}.",
                  word(*a.special_tokens), *a.out, word(*of_run.special_tokens)));
}

void Run::settle_length(std::int64_t steps) {
  const std::int64_t before = std::exchange(recipe->run_steps, steps);
  options.steps = steps;
  if (a.resume) check_steps();
  require_steps_that_learn(*recipe, a.resume ? resume_point()->step() : 0);
  if (before > 0 && before != steps && recipe->stated_horizon() == 0)
    report(fmt::format("the schedule's horizon, the run's last step, is {}, as given; it was {}.",
                       steps, before));
}

const CheckpointReader* Run::resume_point() const {
  return a.resume ? &*folder->resume_point() : nullptr;
}

void Run::check_steps() const {
  std::int64_t step = folder->resume_point()->step();
  if (step > options.steps)
    throw Error(
        fmt::format("The run in {} is at step {} already, beyond the step {} to stop at. "
                    "Give a larger --steps (or --epochs, or --examples).",
                    *a.out, step, options.steps));
  if (step == options.steps)
    report(fmt::format("the run in {} is at step {} already; a larger --steps would go on.", *a.out,
                       step));
}

World Run::world() const {
  if (a.world.ranks == 1) return a.world;
  const std::string point = folder ? folder->resume_point()->folder().filename().string() : "none";
  return world_with_facts(
      a, data.training->state(),
      {{"--eval-every", a.evaluate_every ? std::to_string(*a.evaluate_every) : "default"},
       {"--validation", fmt::format("{}", fmt::join(a.validation, " "))},
       {"--out", *a.out},
       {"checkpoint to resume from", point}});
}

void Run::check_profile() const {
  if (!a.profile) return;
  namespace fs = std::filesystem;
  std::error_code ignored;
  const auto is_below = [&](const fs::path& path) {
    const fs::path folder = fs::weakly_canonical(path, ignored);
    const fs::path file = fs::weakly_canonical(fs::absolute(*a.profile, ignored), ignored);
    return std::ranges::mismatch(folder, file).in1 == folder.end();
  };
  if (a.out && is_below(fs::absolute(*a.out, ignored))) return;  // a run's folder is left out
  for (const std::string& path : a.data)
    if (is_below(fs::absolute(path, ignored)))
      throw UsageError(fmt::format(
          "--profile {} is {} {}, so that it would be read as text. Name a file elsewhere.",
          *a.profile, fs::is_directory(path, ignored) ? "below the data path" : "the data path",
          path));
}

void Run::check_evaluations() const {
  const std::string_view policy = recipe->acts_on_evaluations;
  if (policy.empty() && !a.early_stop) return;
  const std::string who = fmt::format(
                        "{} acts on validation losses",
                        a.early_stop ? "--early-stop" : fmt::format("The recipe's {}", policy)),
                    otherwise = a.early_stop ? std::string("leave --early-stop out")
                                             : fmt::format("give the recipe another {}", policy);
  if (a.evaluate_every == 0)
    throw UsageError(
        fmt::format("{}, and --eval-every 0 asks for none, so it would never act. Leave the flag "
                    "out, or {}.",
                    who, otherwise));
  if (data.evaluation || validation.stage) return;
  if (a.order != Order::sequential)
    throw Error(
        fmt::format("{}, and the recipe's data hold nothing out to evaluate, so it would never "
                    "act. Name other data by --validation, or {}.",
                    who, otherwise));
  throw UsageError(
      fmt::format("{}, and --order sequential holds nothing out to evaluate, so it would never "
                  "act. Leave --order out, name other data by --validation, or {}.",
                  who, otherwise));
}

ReadStage Run::read_stage() {
  if (a.workers > 1 && !data.training->divides())
    report(
        fmt::format("the source of these data gives its batches one after the other: 1 worker "
                    "prepares them, not {}.",
                    a.workers));
  return {*std::move(data.training), {.depth = std::max(4, 2 * a.workers), .workers = a.workers}};
}

void Run::make_loop() {
  ReadStage read = read_stage();
  EvaluateStage evaluate = std::move(validation.stage);
  if (!evaluate && data.evaluation) {
    evaluate = std::move(*data.evaluation);
    evaluate.came_from("the part of --data that is held out");
  }
  if (a.evaluate_every == 0) evaluate = {};
  note_without_evaluations();
  evaluate.require_predictions(*trainer);
  is_evaluated = bool(evaluate);
  catch_stop_signals();  // before this a signal just ends the program
  if (a.profile && is_first(a)) profile.emplace(*a.profile, *recipe->plan, recipe->ranks());
  options.profile = profile ? &*profile : nullptr;
  if (!folder) {
    std::filesystem::path path =
        a.out ? std::filesystem::path(*a.out) : make_run_folder(recipe->name);
    using Mode = RunFolder::Mode;
    folder = folder_at(path, a.resume_or_begin && is_first(a) ? Mode::either : Mode::fresh);
    note_lines(folder->take_warnings());
    if (folder->resume_point())
      throw Error(
          fmt::format("Another run has just saved a checkpoint in {}. Start this one again.",
                      folder->path().string()));
  }
  loop = std::make_unique<Loop>(*trainer, std::move(read), std::move(evaluate), folder.get());
  options.evaluate_every = a.evaluate_every.value_or(affordable_interval(
      a.validation.empty() ? data.evaluation_size : validation.size, tokens_per_step(*recipe)));
  options.best_by = a.best_by.value_or("");
  if (a.early_stop) {
    options.early_stop = recipe->early_stop().value_or(EarlyStopping{});
    options.early_stop->patience = *a.early_stop;
  }
  options.save_every = a.save_every.value_or(usual_interval);
  options.save_minutes = a.save_minutes;
  options.stop = [] { return stop_signals() > 0; };
  if (is_first(a)) make_reports();
}

int train(std::shared_ptr<RecipeView> recipe, const Arguments& a) {
  return Run(std::move(recipe), a).train();
}

}  // namespace sinter::detail::cli
