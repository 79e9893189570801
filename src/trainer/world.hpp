// SPDX-License-Identifier: Apache-2.0
// The ranks of a recipe in this process.
#pragma once
#include "sinter/trainer/recipe_view.hpp"

namespace sinter::detail {

/// True if each rank is a process: always on cards, and on the CPU if a world is given.
bool ranks_are_processes(const RecipeView& recipe, const World& world);
/// Returns the number of ranks in this process.
int ranks_here(const RecipeView& recipe, const World& world);
/// Returns the number of processes that compute on the same processors.
int processes_of(const RecipeView& recipe, const World& world);
/// Checks a world.
/// throws    ArgumentError if it does not fit the recipe's ranks
void check_world(const RecipeView& recipe, const World& world);
/// Simulates the training program on all ranks together (proof/simulate.hpp), in as many
/// micro-batches as a whole global batch has.
/// throws    Error, which names two ranks and their instructions, if they do not fit together
void check_together(const RecipeView& recipe);

}  // namespace sinter::detail
