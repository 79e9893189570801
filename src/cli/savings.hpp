// SPDX-License-Identifier: Apache-2.0
// Explains in words what memory is for, and what would save some of it.
#pragma once
#include <cstdint>
#include <string>

#include "sinter/trainer/recipe_view.hpp"

namespace sinter::detail::cli {

/// Returns the bytes of this process in memory now, or 0 without /proc. These are libraries, as
/// describe makes no arena.
std::int64_t resident_bytes();
/// Returns the purpose of each part of memory, the table of savings, and what to change first.
std::string savings_text(const RecipeView& recipe);

}  // namespace sinter::detail::cli
