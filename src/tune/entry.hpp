// SPDX-License-Identifier: Apache-2.0
// The main() of a recipe's file, as ./sinter tune compiles it: behind this header (cmake/tune.cmake).
// SINTER_TUNE_SLOTS and SINTER_TUNE_RANKS are what grid_of() takes.
#pragma once
#include <sinter/sinter.hpp>

#include "tune/grid.hpp"
#include "tune/grid_program.hpp"

namespace sinter {

/// Prints the grid of the recipe in place of running a verb. (It is chosen before the function of
/// cli/run.hpp, as it asks more of R.)
template <class R>
  requires std::is_class_v<R>
int run(int argc, char** argv) {
  if constexpr (ready<R>()) {
    return detail::tune::run_grid(detail::tune::grid_of<R, SINTER_TUNE_SLOTS, SINTER_TUNE_RANKS>,
                                  argc, argv);
  } else {
    return 1;
  }
}

}  // namespace sinter
