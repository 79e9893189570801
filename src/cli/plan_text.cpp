// SPDX-License-Identifier: Apache-2.0
#include "cli/plan_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/output.hpp"
#include "sinter/plan/parameter.hpp"
#include "trainer/encoded_texts.hpp"

namespace sinter::detail::cli {

std::vector<std::pair<std::string, std::int64_t>> memory_parts(const Memory& m) {
  std::vector<std::pair<std::string, std::int64_t>> parts{{"parameters", m.parameters}};
  if (m.weights) parts.emplace_back("weights", m.weights);
  parts.emplace_back("gradients", m.gradients);
  if (m.running) parts.emplace_back("running", m.running);
  parts.emplace_back("optimizer", m.optimizer);
  if (m.policies) parts.emplace_back("policies", m.policies);
  parts.emplace_back("activations", m.activations);
  parts.emplace_back("workspace", m.workspace);
  parts.emplace_back("total", m.total);
  return parts;
}

std::vector<std::string> unplanned_units(const Model& model) {
  std::vector<std::string> names;
  for (int u = 0; u < model.count(); ++u)
    if (model.plan(u).unplanned) names.push_back(unit_name(model, u));
  return names;
}

std::int64_t tokens_per_step(const RecipeView& recipe) {
  return std::int64_t(recipe.global_batch()) * recipe.plan->context;
}

int evaluation_sequences(const RecipeView& recipe) {
  return recipe.plan->evaluation_micro * recipe.ranks();
}

std::string policy_types(const RecipeView& recipe) {
  std::string text;
  for (const std::string& policy : recipe.policies) {
    if (!text.empty()) text += ", ";
    text += policy.substr(policy.find(": ") + 2);
  }
  return text;
}

std::string recipe_text(const RecipeView& recipe) {
  return fmt::format("recipe  {}: {}\n", recipe.name, policy_types(recipe));
}

namespace {
/// What evaluations take beside the plan to write replies; empty if they write none.
std::string replies_text(const RecipeView& recipe) {
  if (!recipe.scores_replies()) return "";
  const PlanView* const plan = recipe.reply_plan();
  if (!plan)
    return fmt::format("        replies     each text is read anew for each token ({})\n",
                       recipe.not_continued);
  const std::int64_t bytes = reply_bytes(recipe);
  return fmt::format(
      "        replies     {:>12}  {:>16} bytes more while evaluations write {} text{} at once\n",
      bytes_text(bytes), thousands(bytes), plan->max_texts, plan->max_texts == 1 ? "" : "s");
}
/// What predictions take with weights in int8; empty if the recipe does not say so.
std::string int8_text(const RecipeView& recipe) {
  if (!recipe.quantized) return "";
  const Memory& memory = recipe.quantized()->plan->memory;
  return fmt::format(
      "        predict     {:>12}  {:>16} bytes with weights in int8, which take {} of them\n",
      bytes_text(memory.total), thousands(memory.total), bytes_text(memory.parameters));
}
}  // namespace

std::string plan_text(const RecipeView& recipe) {
  const PlanView& plan = *recipe.plan;
  std::int64_t tokens = tokens_per_step(recipe);
  std::string text = fmt::format(
      "plan    {} parameters; a step is {} tokens and {}FLOP ({}FLOP a token)\n",
      thousands(plan.parameters), thousands(tokens),
      metric(double(tokens) * double(plan.flops_per_token)), metric(double(plan.flops_per_token)));
  for (const auto& [name, bytes] : memory_parts(plan.memory))
    text += fmt::format("        {:<12}{:>12}  {:>16} bytes\n", name, bytes_text(bytes),
                        thousands(bytes));
  if (const std::int64_t bytes = plan.memory.offloaded)
    text += fmt::format("        offloaded   {:>12}  {:>16} bytes {}, in no sum above\n",
                        bytes_text(bytes), thousands(bytes),
                        recipe.on_host ? "on disk" : "in memory of the host");
  if (const auto units = unplanned_units(plan.model); !units.empty())
    text += fmt::format("        unplanned   what layers of '{}' take comes on top of the total\n",
                        fmt::join(units, "', '"));
  text += fmt::format("        evaluation  micro-batch of {} sequence{}, in the same memory\n",
                      plan.evaluation_micro, plan.evaluation_micro == 1 ? "" : "s");
  text += replies_text(recipe) + int8_text(recipe);
  for (const std::string& note : recipe.notes()) text += "note    " + note + "\n";
  if (recipe.ranks() > 1) text += fmt::format("        on each of {} ranks\n", recipe.ranks());
  return text;
}

}  // namespace sinter::detail::cli
