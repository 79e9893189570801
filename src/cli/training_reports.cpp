// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/changes.hpp"
#include "cli/launched.hpp"
#include "cli/matmul_text.hpp"
#include "cli/output.hpp"
#include "cli/plan_text.hpp"
#include "cli/training_run.hpp"
#include "files/json_number.hpp"
#include "sinter/hardware/device.hpp"
#include "sinter/hardware/unplanned.hpp"
#include "trainer/run_length.hpp"

namespace sinter::detail::cli {
namespace {

std::string validation_text(const DataUnit& unit, const StepRecord& last) {
  const double loss = *last.validation_loss;
  std::string text = fmt::format("\nValidation: {:.4f}", loss);
  if (!unit.loss.empty()) text += fmt::format(" {}", unit.loss);
  if (unit.headline) text += fmt::format(", {:.4f} {}", unit.headline.of(loss), unit.headline.name);
  for (const MetricValue& metric : last.metrics)
    text += fmt::format(", {} {:.4f}", metric.name, metric.value);
  return text + ".";
}

}  // namespace

void Run::report(const std::string& text) const {
  if (!a.quiet) note_lines(text);
}

void Run::make_reports() {
  if (!record) record.emplace(folder->path());
  report(record->add_start(*recipe, a, a.binary, trainer->steps()));
  Progress::Scale scale{options.steps, double(recipe->plan->flops_per_token)};
  std::FILE* to = a.quiet ? nullptr : a.json ? stderr : stdout;
  if (to) print_if_possible(to, header());
  progress = std::make_unique<Progress>(to, scale);
  if (a.tensorboard)
    events.emplace(folder->path(), trainer->steps(), header(), scale.flops_per_token);
  options.on_step = [this](const StepRecord& record) {
    if (events) events->step(record);
    progress->step(record, loop->state().best_step);
    count_evaluation(record);
    report_unplanned_memory();
    progress->warn_once(watch.look());
    if (events) progress->warn_once(events->take_warnings());
  };
  options.on_warning = [this](const std::string& text) { progress->warn(text); };
  options.on_save = [this](const auto&) {
    if (events) events->sync();
    note_lines(folder->take_warnings());
  };
}

void Run::report_unplanned_memory() {
  const std::int64_t bytes = std::exchange(measured, true) ? 0 : unplanned_bytes();
  if (bytes > 0)
    progress->line(fmt::format("note    layers took {} beside the arena in the first step",
                               bytes_text(bytes)));
}

std::string Run::header() const {
  std::string text = recipe_text(*recipe) + plan_text(*recipe);
  text += fmt::format("device  {}\n", device_text(trainer->settings().threads));
  text += matmul_text(matmul_of(*recipe));
  text += changes_text(*recipe, a);
  text += fmt::format("data    {}\n{}", data.text, validation.text);
  auto often = [](std::int64_t steps) {
    return steps > 0 ? fmt::format("every {} steps", steps) : std::string("at the end");
  };
  const std::int64_t first = trainer->steps() + 1;
  text += fmt::format("run     {}: {}, a checkpoint {}", folder->path().string(),
                      first > options.steps ? "no step is left"
                                            : fmt::format("steps {} to {}", first, options.steps),
                      often(options.save_every));
  if (is_evaluated) text += ", validation " + often(options.evaluate_every);
  for (const std::string& note : {length, length_note(*recipe)})
    if (!note.empty()) text += fmt::format("\nlength  {}", note);
  return text + "\n\n";
}

void Run::note_without_evaluations() const {
  if (a.evaluate_every != 0) return;
  for (const auto& [given, flag] :
       {std::pair{!a.validation.empty(), "--validation"}, {a.best_by.has_value(), "--best-by"}})
    if (given)
      report(fmt::format("--eval-every 0 evaluates never, so that {} has no effect.", flag));
}

std::string Run::end_text(LoopEnd end) const {
  if (end == LoopEnd::stopped) return "Stopped";
  if (end == LoopEnd::finished) return "Done";
  return fmt::format("Done early: {} evaluations in a row were not better than the best one,",
                     loop->state().waited);
}

void Run::count_evaluation(const StepRecord& record) {
  if (!record.validation_loss) return;
  ++evaluations;
  const auto chosen = std::ranges::find(record.metrics, loop->state().best_by, &MetricValue::name);
  figures += chosen == record.metrics.end() || !std::isnan(chosen->value);
}

std::string Run::best_is_missing() const {
  const LoopState& state = loop->state();
  if (std::isfinite(state.best) || evaluations == 0 || figures > 0) return "";
  return fmt::format(
      "--best-by {0}: it was no number in any of {1} evaluations, so that no checkpoint is the "
      "best. "
      "Look whether the validation data allow it, or name another metric; {2}@last is the newest "
      "checkpoint.",
      state.best_by, evaluations, folder->path().string());
}

void Run::finish(LoopEnd end) {
  progress->warn_once(watch.look(true));
  if (events) events->sync();
  if (events) progress->warn_once(events->take_warnings());
  progress->end();
  const StepRecord& last = loop->state().last;
  std::string checkpoint = folder->newest_good().string();
  if (end != LoopEnd::stopped && last.validation_loss)
    progress->line(validation_text(recipe->data.unit, last));
  const LoopState& state = loop->state();
  const bool has_best = std::isfinite(state.best);
  progress->line(fmt::format(
      "{} after {} step{}; saved in {}{}", end_text(end), trainer->steps(),
      trainer->steps() == 1 ? "" : "s", checkpoint,
      has_best ? fmt::format("; the best is step {}, whose {} is {:.4f}", state.best_step,
                             state.best_by.empty() ? "validation loss" : state.best_by, state.best)
               : ""));
  if (const std::string warning = best_is_missing(); !warning.empty()) progress->warn(warning);
  if (end == LoopEnd::stopped)
    progress->line(fmt::format(
        "To go on{}: {} train --resume --out {}{}{}",
        a.world.ranks > 1 ? ", with a launcher and as many ranks as you like" : "", a.binary,
        folder->path().string(), ends_with_data ? "" : fmt::format(" --steps {}", options.steps),
        remembers_data(a) ? "" : " --data …"));
  if (!a.json) return;
  const Figure& headline = recipe->data.unit.headline;
  nlohmann::ordered_json summary{
      {"steps", trainer->steps()}, {"loss", nullptr}, {"val_loss", nullptr}};
  if (last.step > 0) summary["loss"] = last.loss;
  if (headline) summary[headline.key()] = nullptr;
  if (last.validation_loss) {
    summary["val_loss"] = *last.validation_loss;
    for (const MetricValue& metric : last.metrics)
      summary["val_" + metric.name] = finite_or_null(metric.value);
    if (headline) summary[headline.key()] = headline.of(*last.validation_loss);
  }
  summary["tokens"] = last.tokens;
  summary["seconds"] = seconds;
  summary["checkpoint"] = checkpoint;
  summary["best_step"] = nullptr;
  summary["best_val_loss"] = nullptr;
  if (has_best) {
    summary["best_step"] = state.best_step;
    summary["best_val_" + (state.best_by.empty() ? "loss" : state.best_by)] = state.best;
  }
  print_result(summary.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

}  // namespace sinter::detail::cli
