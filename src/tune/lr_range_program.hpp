// SPDX-License-Identifier: Apache-2.0
// The program behind ./sinter tune --lr-range: a run whose learning rate rises.
#pragma once
#include <string>

namespace sinter::detail::tune {

/// Trains once while the rate rises, and prints which rate the losses suggest. Returns the exit code: 0 if
/// there is a suggestion, 1 if there is none, 2 for a wrong command line, 128 and the signal if one came.
/// It takes
///   --program BINARY      which trains the recipe with the schedule LrRise
///   --rates LOW..HIGH[:STEPS]
///   --minutes M           end the run after M minutes
///   --out DIR             a folder for lr_range.svg, and for the run meanwhile
///   --json FILE           write the steps, too
///   -- WORD…              of train
int run_lr_range(const std::string& recipe, int argc, char** argv);

}  // namespace sinter::detail::tune
