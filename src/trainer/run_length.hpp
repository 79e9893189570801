// SPDX-License-Identifier: Apache-2.0
// The number of steps of a run, and what it means for the schedule.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "sinter/trainer/recipe_view.hpp"

namespace sinter::detail {

/// Returns the number of steps of a run that is told nothing: `before`, the number that its checkpoint
/// states, if above 0; else the schedule's horizon; else 1,000 if the schedule needs the length of the
/// run. None if the schedule has no horizon.
std::optional<std::int64_t> usual_run_length(const RecipeView& recipe, std::int64_t before);

/// Returns a sentence on the schedule and the end of the run if they differ, or do not fit; else
/// nothing.
/// requires  recipe.run_steps is the run's number of steps
std::string length_note(const RecipeView& recipe);

/// Checks that the steps after `done` do not end with steps that cannot learn, as their rate is 0.
/// requires  recipe.run_steps is the run's number of steps
/// throws    ArgumentError that names these steps and the ways out
void require_steps_that_learn(const RecipeView& recipe, std::int64_t done);

}  // namespace sinter::detail
