// SPDX-License-Identifier: Apache-2.0
// The main() of a recipe's file that runs verbs of the recipe with a rate that rises, or tests a range of
// rates with such a run, as ./sinter tune --lr-range compiles it: behind this header (cmake/tune.cmake).
#pragma once
#include <sinter/sinter.hpp>
#include <string_view>

#include "tune/lr_range_program.hpp"
#include "tune/lr_rise.hpp"

namespace sinter {

/// Tests a range where the first word says so, else runs a verb. (It is chosen before the function of
/// cli/run.hpp, as it asks more of R.)
template <class R>
  requires std::is_class_v<R>
int run(int argc, char** argv) {
  if constexpr (ready<R>()) {
    using namespace detail;
    if (argc > 1 && std::string_view(argv[1]) == "lr-range")
      return tune::run_lr_range(short_type_name<R>(), argc - 1, argv + 1);
    return run_recipe([] { return view_of<With<R, tune::LrRise>>(); }, argc, argv);
  } else {
    return 1;
  }
}

}  // namespace sinter
