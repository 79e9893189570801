// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "cli/arguments.hpp"

namespace sinter::detail::cli {

/// Returns the line "options …" of a run's header. It has the seed and each option whose value
/// differs from the recipe's, with the recipe's value.
std::string changes_text(const RecipeView& recipe, const Arguments& arguments);

}  // namespace sinter::detail::cli
