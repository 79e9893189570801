// The flags that every recipe's binary has, in one table.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/arguments.hpp"

namespace sinter::cli {

/// A flag with the words that followed it: none for a switch.
struct Given {
  std::string flag;
  std::vector<std::string> texts;
};

struct Flag {
  std::string_view name;   // "--steps"
  std::string_view value;  // "N"; "PATH..." takes many; "" is a switch
  unsigned verbs;          // bit v: the verb v has it
  std::string_view help;
  void (*set)(Arguments&, const Given&);
  /// What a recipe says in place of `help`, if anything.
  std::string_view (*help_of)(const RecipeView&) = nullptr;
  bool old = false;  // a word of before, accepted and not listed

  bool many() const { return value.ends_with("..."); }
  bool of(Verb verb) const { return verbs >> unsigned(verb) & 1; }
};

std::span<const Flag> all_flags();

/// "train, eval and export".
std::string verbs_with(unsigned verbs);

/// Verbs that take the options of policies as flags.
inline constexpr unsigned verbs_with_options =
    1u << unsigned(Verb::train) | 1u << unsigned(Verb::describe);

}  // namespace sinter::cli
