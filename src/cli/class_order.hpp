// SPDX-License-Identifier: Apache-2.0
// Compares the classes of a recipe with those of the weights that it is given.
#pragma once
#include <string>

#include "cli/arguments.hpp"

namespace sinter::detail::cli {

/// Refuses --weights that have learnt the recipe's names of classes in another order, as config.json
/// of a Hugging Face folder (id2label) or run.json of a run says it. Verbs that use the weights as
/// they are also refuse those that have learnt only some of the names, or another kind of labels
/// (problem_type); `train` and `describe` return a note then. Weights without the head, which starts
/// fresh, are no conflict, nor are names of which none is the recipe's.
/// requires  --weights is given
/// throws    FileError that shows both; and what resolve_weights() throws
[[nodiscard]] std::string require_same_classes(const RecipeView& recipe,
                                               const Arguments& arguments);

}  // namespace sinter::detail::cli
