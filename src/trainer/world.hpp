// SPDX-License-Identifier: Apache-2.0
// What a recipe's ranks are in this process.
#pragma once
#include "sinter/trainer/recipe_view.hpp"

namespace sinter::detail {

/// Whether each rank is a process: on cards always, on the processor where a world is given.
bool ranks_are_processes(const RecipeView& recipe, const World& world);
/// The number of ranks in this process.
int ranks_here(const RecipeView& recipe, const World& world);
/// The number of processes that compute on the same processors.
int processes_of(const RecipeView& recipe, const World& world);
/// throws    ArgumentError if the world is not that of the recipe's ranks
void check_world(const RecipeView& recipe, const World& world);
/// Runs the program of training on all ranks against each other (proof/simulate.hpp), in as many
/// micro-batches as a whole global batch has.
/// throws    Error, which names two ranks and their instructions, if they do not fit together
void check_together(const RecipeView& recipe);

}  // namespace sinter::detail
