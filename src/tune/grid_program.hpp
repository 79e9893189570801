// SPDX-License-Identifier: Apache-2.0
// The program that ./sinter tune makes of a recipe to plan all combinations.
#pragma once
#include "tune/row.hpp"

namespace sinter::detail::tune {

/// Prints the grid as the command line asks, and returns the exit code: 0 success, 1 error or nothing
/// fits, 2 wrong command line. It takes
///   --memory SIZE   such as 8GiB: leave out what plans more
///   --json FILE     write all rows, too
int run_grid(Grid (*grid)(), int argc, char** argv);

}  // namespace sinter::detail::tune
