// SPDX-License-Identifier: Apache-2.0
// The tokenizer that a verb uses.
#pragma once
#include "cli/arguments.hpp"
#include "sinter/data/prompt.hpp"
#include "sinter/data/tokenizer/tokenizer.hpp"

namespace sinter::detail::cli {

/// Sets --tokenizer to that of the weights, if it is not given and the recipe's data take one: the
/// one by which the run read its text, or a copy that it has kept, or that of a Hugging Face folder.
/// Of a run, sets --special-tokens, too, unless it is given. Returns a line that says which tokenizer
/// was taken; empty if none was.
/// throws    FileError
[[nodiscard]] std::string take_over_tokenizer(const RecipeView& recipe, Arguments& arguments);

/// Returns the tokenizer of --tokenizer, else that of the weights, else the recipe's own. It puts no
/// special tokens around texts if --special-tokens, else the weights' run, says so.
/// throws    UsageError if there is none of these; FileError
Tokenizer tokenizer_for(const RecipeView& recipe, Arguments arguments);

/// Returns the tokenizer for texts that the model is shown: tokenizer_for(), whose encode() refuses
/// tokens that the model does not have.
/// throws    what tokenizer_for() throws
Tokenizer tokenizer_of_model(const RecipeView& recipe, Arguments arguments);

}  // namespace sinter::detail::cli
