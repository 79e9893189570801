// SPDX-License-Identifier: Apache-2.0
// The binary of a recipe: a command line for its trainer.
#pragma once
#include <functional>

#include "sinter/generate/generator.hpp"
#include "sinter/trainer/recipe_of.hpp"

namespace sinter {

namespace detail {
/// Runs the verb of the command line, such as train, eval or generate (--help lists all). Returns
/// the exit code: 0 success, 1 error, 2 wrong command line, 3 a loss or gradient that is not
/// finite, 75 a stop by a signal, with a checkpoint to resume from.
int run_recipe(const std::function<std::shared_ptr<RecipeView>()>& recipe, int argc, char** argv);
}  // namespace detail

/// The main() of a recipe's binary:
///   int main(int argc, char** argv) { return sinter::run<mine>(argc, argv); }
/// A recipe that breaks a rule gives one compile error here.
template <class R>
int run([[maybe_unused]] int argc, [[maybe_unused]] char** argv) {
  if constexpr (ready<R>()) {
    return detail::run_recipe([] { return detail::view_with_generation<R>(); }, argc, argv);
  } else {
    return 1;
  }
}

}  // namespace sinter
