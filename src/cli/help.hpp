// SPDX-License-Identifier: Apache-2.0
// The texts of --help.
#pragma once
#include <memory>
#include <string>

#include "cli/arguments.hpp"

namespace CLI {
class FormatterBase;
}

namespace sinter::detail::cli {

std::string overall_help(const RecipeView& recipe, const std::string& program);
std::string description_of(Verb verb, const RecipeView& recipe);
/// Lists the options that no flag can change, and the exit codes.
std::string footer_of(Verb verb, const RecipeView& recipe);
std::shared_ptr<CLI::FormatterBase> help_formatter();

}  // namespace sinter::detail::cli
