// SPDX-License-Identifier: Apache-2.0
#include "cli/savings.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "cli/output.hpp"
#include "sinter/recipe/savings.hpp"

namespace sinter::detail::cli {
namespace {

std::string anatomy_text(const PlanView& plan) {
  const Memory& m = plan.memory;
  std::string text = "what it is for\n";
  auto of_parameters = [&](const char* what, std::int64_t bytes) {
    if (bytes > 0)
      text += fmt::format("        {:<38}{:>12}  {:.2f} bytes a parameter\n", what,
                          bytes_text(bytes), double(bytes) / double(plan.parameters));
  };
  of_parameters(m.weights ? "master weights" : "weights", m.parameters);
  of_parameters("their copy, which layers read", m.weights);
  of_parameters("gradients", m.gradients);
  of_parameters("optimizer's state", m.optimizer);
  of_parameters("other policies' state", m.policies);
  const std::int64_t rows = std::int64_t(plan.micro) * plan.context;
  text += fmt::format("        {:<38}{:>12}  {} bytes a row, {} rows\n",
                      "activations, kept for backward", bytes_text(m.activations),
                      thousands(m.activations / std::max<std::int64_t>(rows, 1)), thousands(rows));
  text += fmt::format("        {:<38}{:>12}\n", "temporary, shared by all units",
                      bytes_text(m.workspace));
  if (const std::int64_t libraries = resident_bytes(); libraries > 0)
    text += fmt::format("        {:<38}{:>12}  beside the arena, measured now\n", "libraries",
                        bytes_text(libraries));
  return text;
}

std::string table_text(const RecipeView& recipe) {
  std::vector<Saving> list = savings(*recipe.plan, recipe.alternatives());
  if (list.empty()) return "";
  const std::int64_t now = recipe.plan->memory.total;
  std::ranges::sort(list, {}, &Saving::total);
  std::string text = "what would save memory, each alone\n";
  for (const Saving& s : list)
    text += fmt::format("        {:<38}{:>12}  saves {:>3.0f} %\n", s.technique,
                        bytes_text(s.total), 100. * double(now - s.total) / double(now));
  std::erase_if(list, [](const Saving& s) { return s.cost == 0; });
  std::ranges::sort(list, {}, &Saving::cost);
  text +=
      "if it fits, change nothing: a larger micro-batch is the better use of what is left\n"
      "if it does not fit, try in this order what costs least\n";
  int number = 0;
  for (const Saving& s : list) text += fmt::format("        {}. {}\n", ++number, s.technique);
  return text +
         fmt::format("        {}. Budget<{{.bytes = …}}> chooses among the first by itself\n",
                     ++number);
}

}  // namespace

std::int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::int64_t all = 0, resident = 0;
  file >> all >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

std::string savings_text(const RecipeView& recipe) {
  return anatomy_text(*recipe.plan) + table_text(recipe);
}

}  // namespace sinter::detail::cli
