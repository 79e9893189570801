// SPDX-License-Identifier: Apache-2.0
// The plan of a recipe in words and tables.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "sinter/trainer/recipe_view.hpp"

namespace sinter::detail::cli {

/// The parts of a plan's arena in bytes, and last their total. Parts that few recipes have
/// (weights, running values, policies) are there only if they take space.
std::vector<std::pair<std::string, std::int64_t>> memory_parts(const Memory& memory);

/// Bytes of the copy that a checkpoint is written from while training goes on.
std::int64_t snapshot_bytes(const Memory& memory);

/// The names of units with layers that take memory which is not planned, and so in no part.
std::vector<std::string> unplanned_units(const Model& model);

std::int64_t tokens_per_step(const RecipeView& recipe);
/// The number of sequences that all ranks together evaluate at once.
int evaluation_sequences(const RecipeView& recipe);

/// The policies' types: "Gpt2, Bytes, Fp32, …".
std::string policy_types(const RecipeView& recipe);

/// The line "recipe  …", with which describe and the header of a run begin.
std::string recipe_text(const RecipeView& recipe);
/// Parameters, work per step, and the table of memory.
std::string plan_text(const RecipeView& recipe);

}  // namespace sinter::detail::cli
