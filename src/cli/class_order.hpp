// SPDX-License-Identifier: Apache-2.0
// Compares a recipe's names of classes with those of the weights that it is given.
#pragma once
#include <string>

#include "sinter/trainer/recipe_view.hpp"

namespace sinter::detail::cli {

/// Refuses weights of a Hugging Face folder that has the recipe's names of classes in another order
/// (id2label), unless they lack the head, which then starts fresh. Other names are no conflict.
/// throws    FileError that shows both orders; and what resolve_weights() throws
void require_class_order(const RecipeView& recipe, const std::string& weights);

}  // namespace sinter::detail::cli
