// SPDX-License-Identifier: Apache-2.0
// Checks weights against a recipe.
#pragma once
#include <cstdint>
#include <string>

#include "cli/arguments.hpp"
#include "sinter/files/load.hpp"
#include "sinter/trainer/core.hpp"
#include "sinter/trainer/recipe_view.hpp"

namespace sinter::detail::cli {

/// The result for weights that fit.
struct WeightsFit {
  std::int64_t tensors = 0, files = 0;
  std::string taken;    // which checkpoint of a run it is, in words, or empty
  std::string warning;  // a message for the user, or empty
  UnsharedHeads unshared{};
};

/// Checks that training could start from these weights, with a fresh head if they lack it. Makes no
/// trainer. Reads config.json and the headers of the files, but no hash of a checkpoint.
/// throws    the FileError that load_weights() would throw
WeightsFit require_fit(const std::string& weights, const RecipeView& recipe);

/// Loads --weights, or their average, and the adapters of --adapter. A head that the weights lack may
/// come with the adapters. Returns lines for the user, such as one on adapters that start fresh.
/// requires  --weights is given
/// throws    what TrainerCore::load_weights() and load_adapter() throw
std::string load_weights_of(TrainerCore& trainer, const Arguments& arguments);

}  // namespace sinter::detail::cli
