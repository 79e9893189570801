// SPDX-License-Identifier: Apache-2.0
// The tokenizer that a verb uses.
#pragma once
#include "cli/arguments.hpp"
#include "sinter/data/prompt.hpp"
#include "sinter/data/tokenizer/tokenizer.hpp"

namespace sinter::detail::cli {

/// Where the recipe's data go through a tokenizer and none is given, takes the one of the run whose
/// checkpoint the weights are, if they are one.
void take_over_tokenizer(const RecipeView& recipe, Arguments& arguments);

/// The tokenizer of --tokenizer, else the one of the run whose checkpoint the weights are, else the
/// recipe's own.
/// throws    UsageError where there is none of these; FileError
Tokenizer tokenizer_for(const RecipeView& recipe, Arguments arguments);

}  // namespace sinter::detail::cli
