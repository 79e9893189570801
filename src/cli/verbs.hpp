// SPDX-License-Identifier: Apache-2.0
// The verbs. Each returns the exit code, and throws an error for what goes wrong.
#pragma once
#include "cli/arguments.hpp"

namespace sinter::detail::cli {

inline constexpr int exit_done = 0, exit_error = 1, exit_usage = 2, exit_diverged = 3,
                     exit_stopped = 75;

#define SINTER_VERB(verb, name, function, ...) \
  int function(std::shared_ptr<RecipeView> recipe, const Arguments& arguments);
SINTER_VERBS(SINTER_VERB)
#undef SINTER_VERB

/// Whether the recipe's data policy offers what a verb needs of it.
[[nodiscard]] bool has_data_for(const RecipeView& recipe, Verb verb);
/// throws    Error where it does not
void require_data(const RecipeView& recipe, Verb verb);
/// throws    UsageError if --tokenizer is given, and the recipe's data go through none
void require_tokenizer_is_used(const RecipeView& recipe, const Arguments& arguments);
/// throws    UsageError unless the flag is given
void require_flag(bool given, std::string_view flag, Verb verb);

}  // namespace sinter::detail::cli
