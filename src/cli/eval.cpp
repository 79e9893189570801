// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/data_request.hpp"
#include "cli/eval_progress.hpp"
#include "cli/output.hpp"
#include "cli/verbs.hpp"
#include "sinter/trainer/core.hpp"

namespace sinter::cli {
namespace {

/// The loss over all data.
Loss evaluate(TrainerCore& trainer, OpenedData& data, bool shows) {
  EvalProgress progress(shows ? stderr : nullptr, data.evaluation_size);
  Loss loss;
  HostBatch batch;
  while (data.evaluation->next(batch)) {
    loss += trainer.evaluate(batch);
    progress.at(loss.count);
  }
  return loss;
}

std::string json_text(const Loss& loss, const DataUnit& unit) {
  nlohmann::ordered_json result{{"loss", loss.mean()}, {"tokens", loss.count}};
  for (const Figure& figure : unit.figures) result[figure.key()] = figure.of(loss.mean());
  if (unit.headline) result[unit.headline.key()] = unit.headline.of(loss.mean());
  return result.dump() + "\n";
}

/// The loss and its figures, one per line, with the values in a column.
std::string text(const Loss& loss, const DataUnit& unit) {
  std::vector<std::pair<std::string_view, std::string>> lines;
  std::string mean = fmt::format("{:.6f}", loss.mean());
  if (!unit.loss.empty()) mean += fmt::format(" {} per {}", unit.loss, unit.one);
  lines.emplace_back("loss", mean);
  auto add = [&](const Figure& figure) {
    lines.emplace_back(figure.name, fmt::format("{:.6f}", figure.of(loss.mean())));
  };
  if (unit.headline) add(unit.headline);
  for (const Figure& figure : unit.figures) add(figure);
  lines.emplace_back("predicted", unit.count(loss.count));
  std::size_t width = 0;
  for (const auto& line : lines) width = std::max(width, line.first.size());
  std::string text;
  for (const auto& [name, value] : lines) text += fmt::format("{:<{}}  {}\n", name, width, value);
  return text;
}

}  // namespace

int eval(RecipeView recipe, const Arguments& a) {
  require_data(recipe, a.verb);
  require_tokenizer_is_used(recipe, a);
  require_flag(a.weights.has_value(), "--weights PATH", a.verb);
  require_flag(!a.data.empty() || a.held_out, "--data PATH...", a.verb);
  OpenedData data = a.held_out ? open_held_out_data(recipe, a) : open_evaluation_data(recipe, a);
  if (!a.quiet) note_lines(data.notes);
  const DataUnit unit = recipe.data.unit;
  TrainerCore trainer(std::move(recipe), {0, a.threads});
  std::string warning = trainer.load_weights(*a.weights, a.average ? "ema" : "");
  if (!a.quiet) note_lines(warning);
  Loss loss = evaluate(trainer, data, !a.quiet);
  if (loss.count == 0) throw Error("The data hold nothing to predict. Give --data something else.");
  if (!std::isfinite(loss.mean()))
    throw NonFiniteError("The loss is not finite: the weights are bad. Use another checkpoint.");
  print_result(a.json ? json_text(loss, unit) : text(loss, unit));
  return exit_done;
}

}  // namespace sinter::cli
