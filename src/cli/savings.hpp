// SPDX-License-Identifier: Apache-2.0
// Explains in words what memory is for, and what would save some of it.
#pragma once
#include <string>

#include "sinter/trainer/recipe_view.hpp"

namespace sinter::detail::cli {

/// Returns the purpose of each part of memory, the table of savings, and what to change first.
std::string savings_text(const RecipeView& recipe);

}  // namespace sinter::detail::cli
