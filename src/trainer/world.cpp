// SPDX-License-Identifier: Apache-2.0
#include "trainer/world.hpp"

#include <fmt/format.h>

#include "forecast/require_fit.hpp"
#include "sinter/error.hpp"

namespace sinter::detail {

namespace {

bool is_given(const World& world) {
  return world.ranks != 1 || world.rank != 0 || !world.id.empty();
}

}  // namespace

bool ranks_are_processes(const RecipeView& recipe, const World& world) {
  return recipe.joins_worlds && (!recipe.on_host || is_given(world));
}

int ranks_here(const RecipeView& recipe, const World& world) {
  return ranks_are_processes(recipe, world) ? 1 : recipe.ranks();
}

int processes_of(const RecipeView& recipe, const World& world) {
  if (!recipe.on_host || !ranks_are_processes(recipe, world)) return 1;
  return world.ranks_here ? world.ranks_here : world.ranks;
}

void check_world(const RecipeView& recipe, const World& world) {
  if (!recipe.joins_worlds) {
    if (!is_given(world)) return;
    throw ArgumentError(fmt::format(
        "TrainerSettings::world says rank {} of {} processes, but this recipe has no ranks that "
        "are processes: Ddp has. Leave it out, or train a recipe with Ddp.",
        world.rank, world.ranks));
  }
  if (!ranks_are_processes(recipe, world)) return;
  const int ranks = recipe.ranks();
  if (world.ranks != ranks)
    throw ArgumentError(fmt::format(
        "parallel.ranks is {}, and there {}. {}Start as many as there are ranks, by a launcher "
        "such as ./sinter launch -n {}, or each with its TrainerSettings::world (docs/{}.md), or "
        "make parallel.ranks {}.",
        ranks, world.ranks == 1 ? "is one process" : fmt::format("are {} processes", world.ranks),
        recipe.on_host ? "" : "On cards each rank is a process. ", ranks,
        recipe.on_host ? "ranks" : "gpu", world.ranks));
  if (world.rank < 0 || world.rank >= ranks)
    throw ArgumentError(
        fmt::format("TrainerSettings::world.rank is {}; ranks are counted from 0 to {}.",
                    world.rank, ranks - 1));
  if (world.id.empty() && ranks > 1)
    throw ArgumentError(
        "TrainerSettings::world.id is empty. Make it by shared_memory_world_id() in one "
        "process, and give it to all.");
}

void check_together(const RecipeView& recipe) {
  const int ranks = recipe.ranks();
  if (ranks == 1) return;
  const PlanView& plan = *recipe.plan;
  const int at_once = plan.micro * ranks;
  const auto check = [&](const Model& model, std::span<const Instruction> program, int iterations) {
    require_fit(model, program, ranks, iterations, simulate(model, program, ranks, iterations));
  };
  check(plan.model, plan.training.program, (recipe.global_batch() + at_once - 1) / at_once);
  check(plan.evaluating, plan.evaluation.program, 2);
  check(plan.predicting, plan.prediction.program, 1);
}

}  // namespace sinter::detail
