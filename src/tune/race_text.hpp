// SPDX-License-Identifier: Apache-2.0
// A race in words, as a table and as JSON.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tune/grid_text.hpp"
#include "tune/race.hpp"

namespace sinter::detail::tune {

/// Why a race has ended.
enum class RaceEnd { is_sure, after_all_rounds, before_its_end };

/// A race as it stands.
struct Standing {
  const Grid& grid;
  const std::vector<Run>& runs;
  const Race& race;
  RaceEnd end = RaceEnd::before_its_end;
  int first_steps = 0;  ///< that a process counted in round 0
  int not_raced = 0;    ///< rows that fit and took no part
};

/// The rows that measured something: first those that would go on, each part the fastest first.
std::vector<int> order_of(const Standing& standing);
/// One run: tokens a second, and what the row changes.
std::string line_text(const Grid& grid, const Run& run, bool by_wall);
/// All rows that have run, in their order, those that failed, and the lines of the fastest recipe.
std::string standing_text(const Standing& standing);
/// The same for programs.
nlohmann::ordered_json standing_json(const Standing& standing);

}  // namespace sinter::detail::tune
