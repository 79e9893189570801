// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/class_order.hpp"
#include "cli/data_request.hpp"
#include "cli/eval_progress.hpp"
#include "cli/launched.hpp"
#include "cli/output.hpp"
#include "cli/predictor.hpp"
#include "cli/quantization_error.hpp"
#include "cli/resume.hpp"
#include "cli/verbs.hpp"
#include "cli/weights_fit.hpp"
#include "files/json_number.hpp"
#include "sinter/trainer/evaluation.hpp"
#include "trainer/example_means.hpp"

namespace sinter::detail::cli {
namespace {

using ExampleFigure = std::pair<const char*, double>;
std::vector<ExampleFigure> example_figures(const Evaluation& evaluation) {
  if (!evaluation.examples || evaluation.sequences == 0) return {};
  const ExampleRecord means = means_of(*evaluation.examples, evaluation.sequences);
  std::vector<ExampleFigure> figures;
  for (const auto& [name, field] : example_means) figures.emplace_back(name, means.*field);
  for (const auto& [name, field] : full_means) figures.emplace_back(name, (means.*field).value());
  return figures;
}

using NamedFigure = std::pair<std::string, double>;

/// Predicted tokens on which int8 is compared: enough for a loss of three digits.
constexpr std::int64_t compared_tokens = 2048;

/// The figures of texts that both models read, by their names in JSON.
std::vector<NamedFigure> figures_of(const QuantizationError& error) {
  return {{"compared_tokens", double(error.tokens)},
          {"compared_loss", error.loss},
          {"compared_int8_loss", error.quantized_loss},
          {"int8_divergence", error.divergence},
          {"int8_same_choice", error.same_choice}};
}

std::string json_text(const Evaluation& evaluated, const DataUnit& unit,
                      const std::vector<NamedFigure>& more) {
  const Loss& loss = evaluated.loss;
  nlohmann::ordered_json result{{"loss", loss.mean()}, {"tokens", loss.count}};
  for (const MetricValue& metric : evaluated.metrics)
    result[metric.name] = finite_or_null(metric.value);
  for (const auto& [name, value] : example_figures(evaluated)) result[name] = value;
  for (const Figure& figure : unit.figures) result[figure.key()] = figure.of(loss.mean());
  if (unit.headline) result[unit.headline.key()] = unit.headline.of(loss.mean());
  for (const auto& [name, value] : more) result[name] = finite_or_null(value);
  return result.dump() + "\n";
}

/// Returns the loss and its figures, one per line, with the values in a column.
std::string text(const Evaluation& evaluated, const DataUnit& unit,
                 const std::vector<NamedFigure>& more) {
  const Loss& loss = evaluated.loss;
  std::vector<std::pair<std::string_view, std::string>> lines;
  std::string mean = fmt::format("{:.6f}", loss.mean());
  if (!unit.loss.empty()) mean += fmt::format(" {} per {}", unit.loss, unit.one);
  lines.emplace_back("loss", mean);
  auto add = [&](const Figure& figure) {
    lines.emplace_back(figure.name, fmt::format("{:.6f}", figure.of(loss.mean())));
  };
  for (const MetricValue& metric : evaluated.metrics)
    lines.emplace_back(metric.name, fmt::format("{:.6f}", metric.value));
  if (unit.headline) add(unit.headline);
  for (const Figure& figure : unit.figures) add(figure);
  for (const auto& [name, value] : example_figures(evaluated))
    lines.emplace_back(name, fmt::format("{:.6f}", value));
  lines.emplace_back("predicted", unit.count(loss.count));
  for (const auto& [name, value] : more) lines.emplace_back(name, fmt::format("{:.6g}", value));
  std::size_t width = 0;
  for (const auto& line : lines) width = std::max(width, line.first.size());
  std::string text;
  for (const auto& [name, value] : lines) text += fmt::format("{:<{}}  {}\n", name, width, value);
  return text;
}

Evaluation evaluation_of(TrainerCore& trainer, OpenedData& data, bool quiet) {
  EvalProgress progress(quiet ? nullptr : stderr,
                        std::int64_t(data.predicted * double(data.evaluation_size)));
  return *evaluate_all(trainer, *data.evaluation, {},
                       [&](std::int64_t done) { progress.at(done); });
}

/// Adds the loss and the metrics of a further set to those of the first, by its name.
void add_set(const std::string& name, const Evaluation& set, Evaluation& to) {
  to.metrics.push_back({name + "_loss", set.loss.mean()});
  for (const MetricValue& metric : set.metrics)
    to.metrics.push_back({name + "_" + metric.name, metric.value});
}

/// Requires that the recipe plans int8, which one process evaluates.
void require_int8(const RecipeView& recipe, const Arguments& a) {
  if (!recipe.quantized) refuse_int8(recipe);
  if (a.world.ranks > 1)
    throw UsageError(
        "eval --quantize int8 evaluates both models in one process. Start it without a launcher.");
}

void require_loss(const Loss& loss, const std::string& weights) {
  if (loss.count == 0) throw Error("The data hold nothing to predict. Give --data something else.");
  if (!std::isfinite(loss.mean()))
    throw NonFiniteError("The loss is not finite: the weights" + weights +
                         " are bad. Use another checkpoint.");
}

/// The loss and the metrics over all sets, which begin anew.
Evaluation evaluation_of_all(TrainerCore& trainer, HeldOutData& opened, bool quiet) {
  Evaluation evaluated = evaluation_of(trainer, opened.first, quiet);
  for (auto& [name, set] : opened.more) {
    const Evaluation other = evaluation_of(trainer, set, quiet);
    if (other.loss.count == 0)
      throw Error(fmt::format("--validation {}: these data hold nothing to predict.", name));
    add_set(name, other, evaluated);
  }
  return evaluated;
}

/// Where all sets begin.
class Beginning {
  std::vector<std::pair<AnySource*, SamplerState>> states_;

 public:
  explicit Beginning(HeldOutData& opened) {
    states_.emplace_back(&*opened.first.evaluation, opened.first.evaluation->state());
    for (auto& [name, set] : opened.more)
      states_.emplace_back(&*set.evaluation, set.evaluation->state());
  }
  void restore() const {
    for (const auto& [source, state] : states_) source->restore(state);
  }
};

/// What --quantize int8 asks for: the loss and the metrics in int8, and for a model that continues texts
/// its error over the first of the data. All data begin anew before each.
std::vector<NamedFigure> int8_figures(std::shared_ptr<RecipeView> recipe, const Arguments& a,
                                      HeldOutData& opened, const Beginning& beginning) {
  std::vector<NamedFigure> figures;
  if (recipe->plain_generation) {
    beginning.restore();
    figures = figures_of(quantization_error(*recipe, a, *opened.first.evaluation, compared_tokens));
  }
  beginning.restore();
  TrainerCore quantized(predictor_of(std::move(recipe), true),
                        {0, a.threads, a.pin, {}, a.scratch});
  (void)load_weights_of(quantized, a);
  const Evaluation evaluated = evaluation_of_all(quantized, opened, a.quiet);
  require_loss(evaluated.loss, " in int8");
  figures.emplace_back("int8_loss", evaluated.loss.mean());
  for (const MetricValue& metric : evaluated.metrics)
    figures.emplace_back("int8_" + metric.name, metric.value);
  return figures;
}

}  // namespace

int eval(std::shared_ptr<RecipeView> recipe, const Arguments& a) {
  require_data(*recipe, a.verb);
  skip_generation_if_asked(*recipe, a);
  require_tokenizer_is_used(*recipe, a);
  require_special_tokens_are_put(*recipe, a);
  require_text_is_read(*recipe, a);
  require_flag(a.weights.has_value(), "--weights PATH", a.verb);
  require_flag(!a.data.empty() || a.held_out, "--data PATH...", a.verb);
  if (a.quantizes == true) require_int8(*recipe, a);
  (void)require_same_classes(*recipe, a);
  if (const std::string taken = take_over_options_of_run(*recipe, a); !a.quiet) note_lines(taken);
  HeldOutData opened =
      a.held_out ? open_held_out_data(*recipe, a) : HeldOutData{open_evaluation_data(*recipe, a)};
  OpenedData& data = opened.first;
  const Beginning beginning(opened);
  if (!a.quiet) note_lines(data.notes);
  const DataUnit unit = recipe->data.unit;
  World world = world_with_facts(a, data.evaluation->state());
  std::optional<TrainerCore> trainer;
  trainer.emplace(recipe, TrainerSettings{0, a.threads, a.pin, std::move(world), a.scratch});
  const std::string warning = load_weights_of(*trainer, a);
  if (!a.quiet) note_lines(warning);
  const Evaluation evaluated = evaluation_of_all(*trainer, opened, a.quiet);
  require_loss(evaluated.loss, "");
  std::vector<NamedFigure> more;
  if (a.quantizes == true) {
    trainer.reset();
    more = int8_figures(std::move(recipe), a, opened, beginning);
  }
  if (is_first(a))
    print_result(a.json ? json_text(evaluated, unit, more) : text(evaluated, unit, more));
  return exit_done;
}

}  // namespace sinter::detail::cli
