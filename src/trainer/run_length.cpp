// SPDX-License-Identifier: Apache-2.0
#include "trainer/run_length.hpp"

#include <fmt/format.h>

#include "sinter/error.hpp"

namespace sinter::detail {
namespace {

constexpr std::int64_t usual_steps = 1000;

/// The value of a whole option of the schedule, or none.
std::optional<std::int64_t> of_schedule(const RecipeView& recipe, std::string_view name) {
  for (const Option& option : recipe.options)
    if (option.slot == "schedule" && option.name == name)
      if (const auto* steps = std::get_if<std::int64_t*>(&option.value)) return **steps;
  return std::nullopt;
}

/// The horizon that the recipe states; 0 for the run's length. A user's own schedule may have the
/// option `steps` without the hook.
std::optional<std::int64_t> horizon_of(const RecipeView& recipe) {
  const auto stated = recipe.stated_horizon();
  return stated ? stated : of_schedule(recipe, "steps");
}

/// The first step after `done` whose rate is 0, if the rate stays 0 up to the run's last step.
std::int64_t first_without_rate(const RecipeView& recipe, std::int64_t done) {
  std::int64_t low = done, high = recipe.run_steps;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (recipe.schedule_factor(middle) == 0 ? high : low) = middle;
  }
  return high;
}

/// What the options of a schedule contradict each other in, with the run's length as its horizon.
Contradiction contradiction_of_schedule(const RecipeView& recipe) {
  for (const auto& [slot, found] : recipe.combinations(recipe.run_steps))
    if (slot == "schedule") return found;
  return {};
}

std::string end_text(const RecipeView& recipe, std::int64_t horizon) {
  const std::int64_t last = recipe.run_steps;
  const double factor = recipe.schedule_factor(last);
  if (last > horizon)
    return fmt::format("steps {} to {} have {:.3g} times the optimizer's rate", horizon + 1, last,
                       factor);
  const std::int64_t warmup = of_schedule(recipe, "warmup").value_or(0);
  if (last < warmup)
    return fmt::format(
        "that is within its warm-up of {} steps, at {:.3g} times the optimizer's "
        "rate",
        warmup, factor);
  return fmt::format("the rate there is still {:.3g} times the optimizer's", factor);
}

}  // namespace

std::optional<std::int64_t> usual_run_length(const RecipeView& recipe, std::int64_t before) {
  if (before > 0) return before;
  const auto horizon = horizon_of(recipe);
  return horizon == 0 ? usual_steps : horizon;
}

std::string length_note(const RecipeView& recipe) {
  const auto horizon = horizon_of(recipe);
  if (!horizon || *horizon == recipe.run_steps) return "";
  if (*horizon > 0)
    return fmt::format("the schedule's horizon is step {}, and the run ends at step {}: {}",
                       *horizon, recipe.run_steps, end_text(recipe, *horizon));
  const Contradiction short_run = contradiction_of_schedule(recipe);
  if (!short_run) return "";
  return fmt::format("a run of {} steps is short for its schedule: {} ({})", recipe.run_steps,
                     short_run.what, short_run.fix);
}

void require_steps_that_learn(const RecipeView& recipe, std::int64_t done) {
  const std::int64_t last = recipe.run_steps;
  if (last <= done || recipe.schedule_factor(last) != 0) return;
  const auto horizon = horizon_of(recipe);
  const std::int64_t first = first_without_rate(recipe, done);
  // A schedule may rest on its last step, or in a very long run on a few, whose rates round to 0.
  if (last - first <= last / 1'000'000 && horizon.value_or(0) == 0) return;
  const std::string ways =
      horizon && *horizon > 0
          ? fmt::format(
                "the schedule's horizon is step {}. End the run there (--steps {}), or move "
                "the horizon (--schedule.steps {}, or the recipe's .steps; left out, it is "
                "the run's last step)",
                *horizon, *horizon, last)
          : fmt::format(
                "so the schedule says. End the run at step {} (--steps {}), or take another "
                "schedule",
                first - 1, first - 1);
  throw ArgumentError(
      fmt::format("the learning rate is 0 from step {} to the last step, {}, so that "
                  "nothing would be learnt in them: {}.",
                  first, last, ways));
}

}  // namespace sinter::detail
