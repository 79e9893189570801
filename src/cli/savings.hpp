// What a recipe would need if it were another: the same planner, asked again when the binary runs.
#pragma once
#include <string>
#include <vector>

#include "sinter/trainer/recipe_view.hpp"

namespace sinter::cli {

/// A technique, as a recipe would name it, and the arena with it, in bytes. rank: where it stands
/// among what to try first where memory is short; 0: not among it.
struct Saving {
  std::string technique;
  std::int64_t total = 0;
  int rank = 0;
};

/// What each technique alone would make of a recipe's plan: those that save and that its rules
/// allow.
std::vector<Saving> savings(const RecipeView& recipe);

/// The anatomy of memory, the table of savings, and what to change first.
std::string savings_text(const RecipeView& recipe);

}  // namespace sinter::cli
