// SPDX-License-Identifier: Apache-2.0
// The plan of a recipe in words and tables.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "sinter/trainer/recipe_view.hpp"

namespace sinter::detail::cli {

/// Returns the parts of a plan's arena in bytes; the last one is the total. Parts that few recipes
/// have (weights, running values, policies) are left out if empty.
std::vector<std::pair<std::string, std::int64_t>> memory_parts(const Memory& memory);

/// Returns the names of units with layers whose memory is not planned; no part contains it.
std::vector<std::string> unplanned_units(const Model& model);

std::int64_t tokens_per_step(const RecipeView& recipe);
/// Returns the number of sequences that all ranks together evaluate at once.
int evaluation_sequences(const RecipeView& recipe);

/// Returns the policies' types: "Gpt2, Bytes, Fp32, …".
std::string policy_types(const RecipeView& recipe);

/// Returns the line "recipe  …", with which describe and the header of a run begin.
std::string recipe_text(const RecipeView& recipe);
/// Returns parameters, work per step, and the table of memory.
std::string plan_text(const RecipeView& recipe);

}  // namespace sinter::detail::cli
