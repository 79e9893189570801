// SPDX-License-Identifier: Apache-2.0
// The program that ./sinter tune makes of a recipe to plan all combinations.
#pragma once
#include <string>

#include "tune/grid_text.hpp"

namespace sinter::detail::tune {

/// Reads what --memory takes: a number of bytes, perhaps with a unit.
/// throws    UsageError
Limit limit_of(const std::string& text);

/// Prints the grid as the command line asks, and returns the exit code: 0 success, 1 error or nothing
/// fits, 2 wrong command line. It takes
///   --memory SIZE   such as 8GiB: leave out what plans more
///   --json FILE     write all rows, too
/// or first the word race, and what race_arguments() reads.
int run_grid(Grid (*grid)(), int argc, char** argv);

}  // namespace sinter::detail::tune
