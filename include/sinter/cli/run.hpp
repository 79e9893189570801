// SPDX-License-Identifier: Apache-2.0
// The binary of a recipe, which is a shell over its trainer.
#pragma once
#include <functional>

#include "sinter/recipe/plan.hpp"
#include "sinter/trainer/recipe_view.hpp"

namespace sinter {

/// Does what the command line says: train, eval, generate, describe or export, as --help tells.
/// Returns the exit code: 0 if it is done, 1 for an error, 2 for a wrong command line, 3 for a loss
/// or gradient that is not finite, 75 if a signal has stopped it, with a checkpoint to resume from.
int run_recipe(const std::function<RecipeView()>& recipe, int argc, char** argv);

/// Does all that the main() of a recipe's binary has to do:
///   int main(int argc, char** argv) { return sinter::run<mine>(argc, argv); }
/// A recipe that breaks a rule gives one compile error here.
template <class R>
int run([[maybe_unused]] int argc, [[maybe_unused]] char** argv) {
  if constexpr (ready<R>()) {
    return run_recipe([] { return view_of<R>(); }, argc, argv);
  } else {
    return 1;
  }
}

}  // namespace sinter
