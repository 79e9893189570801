// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "cli/describe.hpp"
#include "sinter/trainer/core.hpp"

namespace sinter::detail::cli {
namespace {

std::string_view when_text(When when) {
  switch (when) {
    case When::first:
      return "in the first micro-batch";
    case When::last:
      return "in the last micro-batch";
    case When::always:
      break;
  }
  return "";
}

}  // namespace

std::string program_text(const RecipeView& recipe) {
  const PlanView& plan = *recipe.plan;
  int iterations = recipe.global_batch() / (plan.micro * recipe.ranks());
  std::string text = "program of the training step\n";
  std::size_t widest = 17;
  for (const Instruction& i : plan.training.program)
    widest = std::max(widest, std::string_view(i.kind->name).size());
  int at = 0, depth = 0;
  for (const Instruction& i : plan.training.program) {
    if (i.kind->role == Role::end) --depth;
    std::string on = i.kind->role == Role::loop ? fmt::format("{} micro-batches", iterations)
                                                : subject(plan.model, i);
    std::string name = std::string(std::size_t(2 * depth), ' ') + i.kind->name;
    std::string line = fmt::format("{:>6}  {:<{}} {}", at++, name, widest, on);
    if (i.when != When::always) line += fmt::format("  ({})", when_text(i.when));
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    if (i.kind->role == Role::loop) ++depth;
  }
  return text;
}

nlohmann::ordered_json program_json(const RecipeView& recipe) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Instruction& i : recipe.plan->training.program) {
    const char* when[]{"always", "first", "last"};
    list.push_back({{"instruction", i.kind->name},
                    {"on", subject(recipe.plan->model, i)},
                    {"when", when[int(i.when)]}});
  }
  return list;
}

}  // namespace sinter::detail::cli
