// SPDX-License-Identifier: Apache-2.0
// The verbs. Each returns the exit code, and throws an error for what goes wrong.
#pragma once
#include "cli/arguments.hpp"

namespace sinter::cli {

inline constexpr int exit_done = 0, exit_error = 1, exit_usage = 2, exit_diverged = 3,
                     exit_stopped = 75;

int train(RecipeView recipe, Arguments arguments, const std::string& program);
int eval(RecipeView recipe, const Arguments& arguments);
int generate(RecipeView recipe, const Arguments& arguments);
int predict(RecipeView recipe, const Arguments& arguments);
int describe(const RecipeView& recipe, const Arguments& arguments);
int export_folder(RecipeView recipe, const Arguments& arguments);
int make_report(RecipeView recipe, const Arguments& arguments);
int tokenize(const RecipeView& recipe, const Arguments& arguments);
int detokenize(const RecipeView& recipe, const Arguments& arguments);
int train_tokenizer_file(const Arguments& arguments);

/// Whether the recipe's data policy offers what a verb needs of it.
[[nodiscard]] bool has_data_for(const RecipeView& recipe, Verb verb);
/// throws    Error where it does not
void require_data(const RecipeView& recipe, Verb verb);
/// throws    UsageError if --tokenizer is given, and the recipe's data go through none
void require_tokenizer_is_used(const RecipeView& recipe, const Arguments& arguments);
/// throws    UsageError unless the flag is given
void require_flag(bool given, std::string_view flag, Verb verb);

}  // namespace sinter::cli
