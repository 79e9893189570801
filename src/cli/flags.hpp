// SPDX-License-Identifier: Apache-2.0
// The flags that every recipe's binary has, in one table.
#pragma once
#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/arguments.hpp"

namespace sinter::detail::cli {

/// A flag with the words that followed it; a switch has none, and one that was left out is "".
struct Given {
  std::string flag;
  std::vector<std::string> texts;
};

struct Flag {
  std::string_view name;   // such as "--steps"
  std::string_view value;  // such as "N"; "PATH..." is many words; "[auto]" may be left out; a
                           // switch has ""
  std::string_view help;
  void (*set)(Arguments&, const Given&);
  /// What a recipe says instead of `help`; empty if it says nothing. nullptr if no recipe does.
  std::string_view (*help_of)(const RecipeView&) = nullptr;
  bool old = false;  // a former name, which is accepted but not listed

  bool many() const { return value.ends_with("..."); }
  bool optional() const { return value.starts_with('['); }
  /// Whether the verb's row has it.
  constexpr bool of(Verb verb) const {
    for (std::string_view rest = row_of(verb).flags; !rest.empty();) {
      const std::size_t end = std::min(rest.find(" --"), rest.size());
      if (is(rest.substr(0, end))) return true;
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return false;
  }
  /// `shown` is a name, and behind a blank the value.
  constexpr bool is(std::string_view shown) const {
    const std::size_t end = std::min(shown.find(' '), shown.size());
    return shown.substr(0, end) == name && shown.substr(std::min(end + 1, shown.size())) == value;
  }
};

std::span<const Flag> all_flags();

/// The names of verbs, as "train, eval and export".
std::string verbs_with(const std::function<bool(Verb)>& has);

}  // namespace sinter::detail::cli
