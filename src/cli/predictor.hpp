// SPDX-License-Identifier: Apache-2.0
// The weights of a verb that predicts or evaluates.
#pragma once
#include <memory>
#include <optional>

#include "sinter/trainer/recipe_view.hpp"

namespace sinter::detail::cli {

/// Throws a UsageError that int8 is asked for, and the recipe does not plan it.
[[noreturn]] void refuse_int8(const RecipeView& recipe, const char* more = "");

/// The view of a recipe that predicts and evaluates, with the options of `recipe`; `quantizes` as
/// --quantize says, or else as the recipe does.
/// throws    UsageError if int8 is asked for, and the recipe does not plan it
std::shared_ptr<RecipeView> predictor_of(std::shared_ptr<RecipeView> recipe,
                                         std::optional<bool> quantizes);

}  // namespace sinter::detail::cli
