// The plan of a recipe in words and tables.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "sinter/trainer/recipe_view.hpp"

namespace sinter::cli {

/// The parts of the arena that a plan has, and last their total, in bytes. Those that few recipes
/// have (weights, policies) are there only where they take space.
std::vector<std::pair<std::string, std::int64_t>> memory_parts(const Memory& memory);

std::int64_t tokens_per_step(const RecipeView& recipe);
/// What all ranks together evaluate at once.
int evaluation_sequences(const RecipeView& recipe);

/// "Gpt2, Bytes, Fp32, …": the policies' types.
std::string policy_types(const RecipeView& recipe);

/// "recipe  …", as the header of a run and describe begin.
std::string recipe_text(const RecipeView& recipe);
/// Parameters, work per step, and the table of memory.
std::string plan_text(const RecipeView& recipe);

}  // namespace sinter::cli
