// SPDX-License-Identifier: Apache-2.0
// The verbs. Each returns the exit code, and throws an error if something goes wrong.
#pragma once
#include "cli/arguments.hpp"

namespace sinter::detail::cli {

inline constexpr int exit_done = 0, exit_error = 1, exit_usage = 2, exit_diverged = 3,
                     exit_stopped = 75;

#define SINTER_VERB(verb, name, function, ...) \
  int function(std::shared_ptr<RecipeView> recipe, const Arguments& arguments);
SINTER_VERBS(SINTER_VERB)
#undef SINTER_VERB

/// True if the recipe's data policy has what a verb needs.
[[nodiscard]] bool has_data_for(const RecipeView& recipe, Verb verb);
/// Checks that the data policy has what the verb needs.
/// throws    Error if it does not
void require_data(const RecipeView& recipe, Verb verb);
/// Checks that --tokenizer has an effect.
/// throws    UsageError if it is given and the recipe's data use no tokenizer
void require_tokenizer_is_used(const RecipeView& recipe, const Arguments& arguments);
/// Checks that --special-tokens has an effect.
/// throws    UsageError
void require_special_tokens_are_put(const RecipeView& recipe, const Arguments& arguments);
/// Checks that --as-text has an effect.
/// throws    UsageError if it is given and the recipe's data are no plain text
void require_text_is_read(const RecipeView& recipe, const Arguments& arguments);
/// Skips the generation if --skip-generation asks for that.
/// throws    UsageError if it is given and the recipe's evaluations write nothing
void skip_generation_if_asked(RecipeView& recipe, const Arguments& arguments);
/// Checks that a required flag is given.
/// throws    UsageError if it is not
void require_flag(bool given, std::string_view flag, Verb verb);

}  // namespace sinter::detail::cli
