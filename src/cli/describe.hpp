// SPDX-License-Identifier: Apache-2.0
// What describe prints besides the plan's table.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "sinter/trainer/recipe_view.hpp"

namespace sinter::detail::cli {

/// What the copy that a checkpoint is written from takes, beside the plan.
std::string snapshot_text(const Memory& memory);
/// Every option with its value, and its range if a flag can change it.
std::string options_text(const RecipeView& recipe);
/// The hooks that each policy has, so that a misspelt one is seen to be missing.
std::string hooks_text(const RecipeView& recipe);
/// Every parameter with its shape.
std::string parameters_text(const RecipeView& recipe);
/// The largest buffers of the training step: what they hold, where, and during which instructions.
std::string buffers_text(const PlanView& plan);

/// The program of the training step, one instruction per line.
std::string program_text(const RecipeView& recipe);
/// The same as a list of {instruction, on, when}.
nlohmann::ordered_json program_json(const RecipeView& recipe);

}  // namespace sinter::detail::cli
