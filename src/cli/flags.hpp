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

/// A flag with its values. A switch has none; a value that was left out is "".
struct Given {
  std::string flag;
  std::vector<std::string> texts;
};

struct Flag {
  std::string_view name;   // such as "--steps"
  std::string_view value;  // such as "N"; "PATH...": many; "[auto]": optional; "": none
  std::string_view help;
  void (*set)(Arguments&, const Given&);
  /// What a flag that is left out means; "" if that depends on anything.
  std::string_view usual{};
  /// A recipe's own help in place of `help`; empty if it has none. nullptr if no recipe has one.
  std::string_view (*help_of)(const RecipeView&) = nullptr;
  bool old = false;  // a former name, which is accepted but not listed

  bool many() const { return value.ends_with("..."); }
  bool optional() const { return value.starts_with('['); }
  bool takes_number() const;
  /// The name that turns a switch off, such as "--no-json"; empty if no file can turn it on.
  std::string negative() const;
  /// True if the verb has this flag.
  constexpr bool of(Verb verb) const {
    for (std::string_view rest = row_of(verb).flags; !rest.empty();) {
      const std::size_t end = std::min(rest.find(" --"), rest.size());
      if (is(rest.substr(0, end))) return true;
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return false;
  }
  /// True if this is the flag `shown`: its name, and its value after a blank.
  constexpr bool is(std::string_view shown) const {
    if (!shown.starts_with(name)) return false;
    shown.remove_prefix(name.size());
    return value.empty() ? shown.empty() : shown.starts_with(' ') && shown.substr(1) == value;
  }
};

std::span<const Flag> all_flags();

/// Returns a flag by its name, such as "--steps"; nullptr if there is none.
const Flag* find_flag(std::string_view name);
/// Returns the switch that a name such as "--no-json" turns off; nullptr if there is none.
const Flag* find_negative(std::string_view name);
/// Returns an option of the recipe by its flag, such as "--optimizer.lr"; nullptr if there is none.
const Option* find_option(const RecipeView& recipe, std::string_view name);

/// True if the word is written as a flag.
inline bool is_flag(std::string_view word) { return word.size() > 1 && word.starts_with('-'); }
/// Returns the name in "--steps=4".
inline std::string_view name_part(std::string_view word) { return word.substr(0, word.find('=')); }

/// Returns the names of verbs, as "train, eval and export".
std::string verbs_with(const std::function<bool(Verb)>& has);

}  // namespace sinter::detail::cli
