// What memory is for, and what would save some of it, in words.
#pragma once
#include <string>

#include "sinter/trainer/recipe_view.hpp"

namespace sinter::cli {

/// The anatomy of memory, the table of savings, and what to change first.
std::string savings_text(const RecipeView& recipe);

}  // namespace sinter::cli
