// SPDX-License-Identifier: Apache-2.0
// The main() of a recipe's file that runs verbs of a row of its grid, as ./sinter tune compiles it: behind
// this header (cmake/tune.cmake). SINTER_TUNE_ROW is the row's number; the rest as in tune/entry.hpp.
#pragma once
#include <sinter/sinter.hpp>

#include "tune/arm_recipe.hpp"

namespace sinter {

/// Runs a verb of the row. (It is chosen before the function of cli/run.hpp, as it asks more of R.)
template <class R>
  requires std::is_class_v<R>
int run(int argc, char** argv) {
  if constexpr (ready<R>()) {
    return detail::tune::run_row<SINTER_TUNE_ROW, R, SINTER_TUNE_SLOTS, SINTER_TUNE_RANKS>(argc,
                                                                                           argv);
  } else {
    return 1;
  }
}

}  // namespace sinter
