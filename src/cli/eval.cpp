// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/data_request.hpp"
#include "cli/eval_progress.hpp"
#include "cli/launched.hpp"
#include "cli/output.hpp"
#include "cli/verbs.hpp"
#include "sinter/trainer/core.hpp"

namespace sinter::cli {
namespace {

/// Whether a model takes numbers and has a class for each row as its only target, so that it
/// predicts the logits of classes.
bool classifies(const PlanView& plan) {
  int classes = 0;
  for (const External& input : plan.model.externals) {
    const bool is_class = input.targets && input.width == 0;
    if (input.width == 0 ? !is_class : input.targets) return false;
    classes += is_class;
  }
  return classes == 1 && !plan.predicting.results.empty();
}

/// The rows of a batch whose class has the largest logit.
std::int64_t classified(TrainerCore& trainer, const HostBatch& batch) {
  const Prediction logits = trainer.predict(batch);
  std::int64_t right = 0;
  for (int row = 0; row < logits.rows; ++row) {
    const auto first = logits.values.begin() + std::int64_t(row) * logits.columns;
    right += std::max_element(first, first + logits.columns) - first == batch.ids[0][row];
  }
  return right;
}

struct Evaluated {
  Loss loss{};                          ///< over all data
  std::optional<std::int64_t> right{};  ///< rows whose class was predicted, of a classifier

  double accuracy() const { return double(*right) / double(loss.count); }
};

Evaluated evaluate(TrainerCore& trainer, OpenedData& data, bool shows) {
  EvalProgress progress(shows ? stderr : nullptr,
                        std::int64_t(data.predicted * double(data.evaluation_size)));
  Evaluated result;
  if (classifies(trainer.plan())) result.right = 0;
  HostBatch batch;
  BatchDraw draw;
  // A prediction, of which the accuracy is, is of all sequences.
  const BatchPart part = result.right ? BatchPart{} : trainer.part();
  while (pull(*data.evaluation, batch, draw, part)) {
    result.loss += trainer.evaluate(batch);
    if (result.right) *result.right += classified(trainer, batch);
    progress.at(result.loss.count);
  }
  return result;
}

std::string json_text(const Evaluated& evaluated, const DataUnit& unit) {
  const Loss& loss = evaluated.loss;
  nlohmann::ordered_json result{{"loss", loss.mean()}, {"tokens", loss.count}};
  if (evaluated.right) result["accuracy"] = evaluated.accuracy();
  for (const Figure& figure : unit.figures) result[figure.key()] = figure.of(loss.mean());
  if (unit.headline) result[unit.headline.key()] = unit.headline.of(loss.mean());
  return result.dump() + "\n";
}

/// The loss and its figures, one per line, with the values in a column.
std::string text(const Evaluated& evaluated, const DataUnit& unit) {
  const Loss& loss = evaluated.loss;
  std::vector<std::pair<std::string_view, std::string>> lines;
  std::string mean = fmt::format("{:.6f}", loss.mean());
  if (!unit.loss.empty()) mean += fmt::format(" {} per {}", unit.loss, unit.one);
  lines.emplace_back("loss", mean);
  auto add = [&](const Figure& figure) {
    lines.emplace_back(figure.name, fmt::format("{:.6f}", figure.of(loss.mean())));
  };
  if (evaluated.right) lines.emplace_back("accuracy", fmt::format("{:.6f}", evaluated.accuracy()));
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
  World world = world_with_facts(a, data.evaluation->state());
  TrainerCore trainer(std::move(recipe), {0, a.threads, a.pin, std::move(world), a.scratch});
  std::string warning = trainer.load_weights(*a.weights, a.average ? "ema" : "");
  if (!a.quiet) note_lines(warning);
  const Evaluated evaluated = evaluate(trainer, data, !a.quiet);
  const Loss& loss = evaluated.loss;
  if (loss.count == 0) throw Error("The data hold nothing to predict. Give --data something else.");
  if (!std::isfinite(loss.mean()))
    throw NonFiniteError("The loss is not finite: the weights are bad. Use another checkpoint.");
  if (is_first(a)) print_result(a.json ? json_text(evaluated, unit) : text(evaluated, unit));
  return exit_done;
}

}  // namespace sinter::cli
