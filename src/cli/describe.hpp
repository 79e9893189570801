// SPDX-License-Identifier: Apache-2.0
// Parts of the output of describe, beside the plan's table.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "sinter/trainer/recipe_view.hpp"

namespace sinter::detail::cli {

/// Returns a line on the memory of the snapshot from which checkpoints are written.
std::string snapshot_text(const Memory& memory);
/// Lists all options with their values, and ranges if flags can change them.
std::string options_text(const RecipeView& recipe);
/// Lists the hooks of each policy. A misspelt hook is not in the list.
std::string hooks_text(const RecipeView& recipe);
/// Lists all parameters with their shapes.
std::string parameters_text(const RecipeView& recipe);
/// Lists the largest buffers of the training step: content, address and lifetime.
std::string buffers_text(const PlanView& plan);

/// Returns a buffer's content in words, such as "saved of h.3".
std::string buffer_name(const Model& model, const Buffer& buffer);
/// Returns what the lists of the text say: policies, notes, ranges of options, parameters, buffers,
/// matrices of odd sizes, what would save memory and in which order to try it.
nlohmann::ordered_json details_json(const RecipeView& recipe);

/// Returns the program of the training step, one instruction per line.
std::string program_text(const RecipeView& recipe);
/// Returns the program as a list of {instruction, on, when}.
nlohmann::ordered_json program_json(const RecipeView& recipe);

}  // namespace sinter::detail::cli
