// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "cli/arguments.hpp"

namespace sinter::detail::cli {

/// The line "options …" of a run's header: the seed, and each option that is not as the recipe has
/// it, with the recipe's value.
std::string changes_text(const RecipeView& recipe, const Arguments& arguments);

}  // namespace sinter::detail::cli
