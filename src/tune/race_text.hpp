// SPDX-License-Identifier: Apache-2.0
// A race in words, as a table and as JSON.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tune/grid_text.hpp"
#include "tune/standing.hpp"

namespace sinter::detail::tune {

/// One run: tokens a second, and what the row changes.
std::string line_text(const Grid& grid, const Run& run, bool by_wall);
/// A row's part of the matmul's speed, such as "47 %"; "" if it was not measured.
std::string share_text(const RowFigures& figures);
/// Whether the race has decided which row is the fastest.
std::string verdict_text(const Standing& standing);
/// All rows that have run, in their order, those that failed, and the lines of the fastest recipe.
std::string standing_text(const Standing& standing);
/// The same for programs.
nlohmann::ordered_json standing_json(const Standing& standing);

}  // namespace sinter::detail::tune
