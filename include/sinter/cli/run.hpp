// The binary of a recipe: a shell over its trainer.
#pragma once
#include <functional>

#include "sinter/plan/plan.hpp"
#include "sinter/trainer/recipe_view.hpp"

namespace sinter {

/// The verbs train, eval, generate, describe and export, as --help says. Returns the exit code: 0
/// done, 1 error, 2 wrong command line, 75 stopped by a signal, with a checkpoint to resume from.
int run_recipe(const std::function<RecipeView()>& recipe, int argc, char** argv);

/// All that the main() of a recipe's binary does:
///   int main(int argc, char** argv) { return sinter::run<mine>(argc, argv); }
/// A recipe that breaks a rule is one compile error here.
template <class R>
int run([[maybe_unused]] int argc, [[maybe_unused]] char** argv) {
  if constexpr (ready<R>()) {
    return run_recipe([] { return view_of<R>(); }, argc, argv);
  } else {
    return 1;
  }
}

}  // namespace sinter
