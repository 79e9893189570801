// SPDX-License-Identifier: Apache-2.0
// A grid as a table and as JSON.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "tune/row.hpp"

namespace sinter::detail::tune {

/// The bytes that all ranks together may plan for; 0 for any number.
struct Limit {
  std::int64_t bytes = 0;
  bool allows(const Row& row) const { return bytes == 0 || row.bytes() <= bytes; }
};

/// What a row changes in the recipe, as one would write it.
std::string change_text(const Row& row);
/// The recipe, the combinations that fit, the smallest first, and how many do not, with the reasons.
std::string grid_text(const Grid& grid, Limit limit);
/// All rows in their order, each with a verdict: "fits", "too large" or "no recipe".
nlohmann::ordered_json grid_json(const Grid& grid, Limit limit);

}  // namespace sinter::detail::tune
