// SPDX-License-Identifier: Apache-2.0
// The flags that every recipe's binary has, in one table.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/arguments.hpp"

namespace sinter::cli {

/// A flag with the words that followed it; a switch has none, and one that was left out is "".
struct Given {
  std::string flag;
  std::vector<std::string> texts;
};

struct Flag {
  std::string_view name;   // such as "--steps"
  std::string_view value;  // such as "N"; "PATH..." is many words; "[auto]" may be left out; a
                           // switch has ""
  unsigned verbs;          // bit v says whether the verb v has it
  std::string_view help;
  void (*set)(Arguments&, const Given&);
  /// What a recipe says instead of `help`; empty if it says nothing. nullptr if no recipe does.
  std::string_view (*help_of)(const RecipeView&) = nullptr;
  bool old = false;  // a former name, which is accepted but not listed

  bool many() const { return value.ends_with("..."); }
  bool optional() const { return value.starts_with('['); }
  bool of(Verb verb) const { return verbs >> unsigned(verb) & 1; }
};

std::span<const Flag> all_flags();

/// The names of verbs, as "train, eval and export".
std::string verbs_with(unsigned verbs);

/// The verbs that take the options of policies as flags.
inline constexpr unsigned verbs_with_options =
    1u << unsigned(Verb::train) | 1u << unsigned(Verb::describe);

}  // namespace sinter::cli
