// SPDX-License-Identifier: Apache-2.0
// Combinations of policies as values.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace sinter::detail::tune {

/// One combination of policies.
struct Row {
  std::vector<std::string> policies;  ///< one for each of Grid::slots, as a recipe has it
  std::vector<std::string> changed;   ///< those of them that are not the recipe's own
  std::string reason;                 ///< why no recipe may have it; "" if one may
  int ranks = 1;
  int micro = 0;                     ///< sequences that a rank computes at once
  std::int64_t arena = 0;            ///< planned bytes of each rank
  std::int64_t flops = 0;            ///< of a step, all ranks together; see training_flops()
  std::int64_t flops_per_token = 0;  ///< the same of one token

  /// Planned bytes of all ranks.
  std::int64_t bytes() const { return arena * ranks; }
};

/// All combinations for a recipe.
struct Grid {
  std::string recipe;              ///< the recipe's name
  std::vector<std::string> slots;  ///< names of the slots that differ between rows
  std::vector<Row> rows;           ///< the first is the recipe itself
  bool is_all_planned = true;      ///< false if layers take memory that no plan counts
};

}  // namespace sinter::detail::tune
