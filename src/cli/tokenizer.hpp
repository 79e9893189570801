// SPDX-License-Identifier: Apache-2.0
// The tokenizer that a verb uses.
#pragma once
#include "cli/arguments.hpp"
#include "sinter/data/prompt.hpp"
#include "sinter/data/tokenizer/tokenizer.hpp"

namespace sinter::cli {

/// Where the recipe's data go through a tokenizer and none is given, takes the one of the run whose
/// checkpoint the weights are, if they are one.
void take_over_tokenizer(const RecipeView& recipe, Arguments& arguments);

/// The tokenizer of --tokenizer, else the one of the run whose checkpoint the weights are, else the
/// recipe's own.
/// throws    UsageError where there is none of these; FileError
Tokenizer tokenizer_for(const RecipeView& recipe, Arguments arguments);

/// What the model is shown of a text: as the data policy says, or its tokens; of an empty one, those
/// of a line break.
Prompt prompt_of(const DataView& data, const Tokenizer& tokenizer, const std::string& text);

}  // namespace sinter::cli
