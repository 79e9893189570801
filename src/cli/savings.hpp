// SPDX-License-Identifier: Apache-2.0
// Says in words what memory is for, and what would save some of it.
#pragma once
#include <string>

#include "sinter/trainer/recipe_view.hpp"

namespace sinter::detail::cli {

/// What each part of memory is for, the table of savings, and what to change first.
std::string savings_text(const RecipeView& recipe);

}  // namespace sinter::detail::cli
