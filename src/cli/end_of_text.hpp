// SPDX-License-Identifier: Apache-2.0
// The tokens at which a generated text ends.
#pragma once
#include <string>
#include <vector>

#include "cli/arguments.hpp"
#include "cli/sampling.hpp"
#include "hugging_face/origin.hpp"
#include "sinter/data/prompt.hpp"

namespace sinter::detail::cli {

/// What is said of the tokens that end a text.
struct EndsSaid {
  std::vector<Setting> settings{};
  std::vector<std::string> notes{};  // a line for each that has no effect
};

/// Sets the tokens that end a text: those that what came with the weights, `origin`, names as
/// eos_token_id, in generation_config.json. Where the recipe's data have no end of their own, it may
/// also be config.json that names them, or else the tokenizer. With --ignore-eos there are none.
/// throws    FileError if the tokenizer cannot be read, or eos_token_id is not of tokens
[[nodiscard]] EndsSaid set_ends(Prompt& prompt, const RecipeView& recipe, Arguments arguments,
                                hugging_face::Origin origin);

}  // namespace sinter::detail::cli
