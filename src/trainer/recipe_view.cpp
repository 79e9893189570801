// SPDX-License-Identifier: Apache-2.0
// Options as text, and checks of them.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "sinter/error.hpp"
#include "sinter/trainer/recipe_view.hpp"

namespace sinter::detail {

namespace {

/// Returns the value of a number; none for a switch or a word.
std::optional<double> number_of(const Option& option) {
  return option.read([]<class T>(const T& value) -> std::optional<double> {
    if constexpr (is_number<T>) return double(value);
    return std::nullopt;
  });
}

void check_range(const Option& option) {
  const std::optional<double> number = number_of(option);
  if (!option.range || !number || option.range->holds(*number)) return;
  const TextBuilder bounds = option.range->text();
  throw ArgumentError(fmt::format(
      "{} is {}, but it must be finite{}{}. Change it to such a number.", option.dotted(),
      text_of(option), bounds.view().empty() ? "" : ", ", bounds.view()));
}

/// Lists the numbers in a slot, as "schedule.warmup is 100, schedule.steps is 20".
std::string numbers_of(const RecipeView& recipe, std::string_view slot) {
  std::string text;
  for (const Option& option : recipe.options)
    if (option.slot == slot && number_of(option))
      text += fmt::format("{}{} is {}", text.empty() ? "" : ", ", option.dotted(), text_of(option));
  return text;
}

}  // namespace

RecipeView::RecipeView() = default;
RecipeView::~RecipeView() = default;

Prompt RecipeView::prompt(const Tokenizer& tokenizer, std::string_view text) const {
  Prompt prompt{.tokens = tokenizer.encode(text)};
  prompt.tokens.insert(prompt.tokens.begin(), tokenizer.before.begin(), tokenizer.before.end());
  return prompt;
}

bool RecipeView::counts_right() const {
  return std::ranges::any_of(metrics, [](const Metric& metric) { return metric.of_tokens; });
}

bool RecipeView::scores_replies() const {
  return !skips_generation && std::ranges::any_of(metrics, &Metric::is_of_texts);
}

const PlanView* RecipeView::reply_plan() const {
  return scores_replies() && reply_generation ? reply_generation()->plan : nullptr;
}

std::string text_of(const Option& option) {
  return option.read([](const auto& value) { return fmt::format("{}", value); });
}

const Metric* metric_named(const RecipeView& recipe, std::string_view name, std::string_view asks) {
  if (name.empty() || name == "loss") return nullptr;
  for (const Metric& metric : recipe.metrics)
    if (metric.name == name) {
      if (recipe.skips_generation && metric.is_of_texts())
        throw ArgumentError(fmt::format(
            "{} names '{}', a metric of replies, and generation is skipped, so evaluations write "
            "none. Name another metric, or loss; or let evaluations write, without "
            "--skip-generation.",
            asks, name));
      return &metric;
    }
  std::string known = "loss";
  for (const Metric& metric : recipe.metrics) known.append(", ").append(metric.name);
  throw ArgumentError(
      fmt::format("{} names '{}', and the recipe {} has no such metric. It has: {}. Name one of "
                  "these, or add the metric to its policy Metrics.",
                  asks, name, recipe.name, known));
}

Watched figure_of(const RecipeView& recipe, std::string_view name, double loss,
                  std::span<const MetricValue> metrics) {
  const Metric* metric =
      metric_named(recipe, name, "the recipe's " + std::string(recipe.acts_on_evaluations));
  if (!metric) return {.name = "", .value = loss};
  const auto found = std::ranges::find(metrics, metric->name, &MetricValue::name);
  if (found == metrics.end())
    throw ArgumentError(fmt::format(
        "the recipe's {} watches the metric '{}', and this evaluation came without it. Pass the "
        "metrics of the evaluation beside its loss.",
        recipe.acts_on_evaluations, metric->name));
  return {metric->name, found->value, metric->greater_is_better};
}

void check_options(const RecipeView& recipe) {
  for (const Option& option : recipe.options) check_range(option);
  for (const auto& [slot, found] : recipe.combinations())
    if (found)
      throw ArgumentError(fmt::format("in {}, {}: {}. To mend it: {}.", slot, found.what,
                                      numbers_of(recipe, slot), found.fix));
}

std::string fault_text(const char* what, const char* unit, const char* node) {
  return *node ? fmt::format("{}: {}.{}", what, unit, node) : what;
}

}  // namespace sinter::detail
