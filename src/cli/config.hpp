// SPDX-License-Identifier: Apache-2.0
// A configuration as JSON: what --config reads, --print-config prints, and run.json keeps.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "cli/flags.hpp"

namespace sinter::detail::cli {

/// What a file says for --config.
struct Config {
  /// A flag or an option of the recipe, with its values as words of a command line.
  struct Entry {
    std::string name;   // such as "--steps" or "--optimizer.lr"
    std::string place;  // for errors: the file and the key
    std::vector<std::string> texts;
  };
  std::vector<Entry> entries;
  std::string notes;  // for people, one per line
};

/// Reads a configuration: an object whose keys are the names of the verb's flags, as in
/// {"data": ["texts"], "eval_every": 50, "optimizer.lr": 3e-4}; null stands for a flag left out.
/// Options may be nested, as {"optimizer": {"lr": 3e-4}}. Of a run.json it takes the configuration
/// that the run has begun with.
/// throws    UsageError that names the file and the key, if a key is no flag of the verb, a value
///           is of another type, or a part of the recipe's type differs; FileError if the file
///           cannot be read
[[nodiscard]] Config read_config(const std::string& file, Verb verb, const RecipeView& recipe);

/// True if a flag of the file falls, since a flag that was typed excludes it.
[[nodiscard]] bool is_excluded(std::string_view name, const Arguments& typed);

/// Returns the configuration as read_config() reads it: recipe, policies, all flags and all
/// options. A flag that was left out has its usual value, or null if that depends on anything.
[[nodiscard]] nlohmann::ordered_json config_of(const RecipeView& recipe,
                                               const Arguments& arguments);

/// Prints config_of() on standard output, and where its values come from on standard error.
/// throws    UsageError if a resumed run's configuration is asked for; Error if a word is no UTF-8
[[nodiscard]] int print_config(const RecipeView& recipe, const Arguments& arguments);

}  // namespace sinter::detail::cli
