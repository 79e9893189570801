// SPDX-License-Identifier: Apache-2.0
// Flags, options and verbs by their names.
#include <algorithm>

#include "cli/flags.hpp"

namespace sinter::detail::cli {

bool Flag::takes_number() const {
  constexpr std::string_view numbers[] = {"N", "K",       "M",      "P",    "T",
                                          "X", "SECONDS", "FACTOR", "GB/S", "MICROSECONDS"};
  return std::ranges::find(numbers, value) != std::end(numbers);
}

std::string Flag::negative() const {
  constexpr std::string_view no = "--no-";
  const bool is_switch = value.empty() || optional();
  if (!is_switch || old || name == "--print-config") return "";
  if (name.starts_with(no)) return "--" + std::string(name.substr(no.size()));
  return std::string(no) + std::string(name.substr(2));
}

const Flag* find_flag(std::string_view name) {
  const std::span<const Flag> flags = all_flags();
  const auto found = std::ranges::find(flags, name, &Flag::name);
  return found == flags.end() ? nullptr : &*found;
}

const Flag* find_negative(std::string_view name) {
  const std::span<const Flag> flags = all_flags();
  const auto found = std::ranges::find(flags, name, &Flag::negative);
  return name.empty() || found == flags.end() ? nullptr : &*found;
}

const Option* find_option(const RecipeView& recipe, std::string_view name) {
  for (const Option& option : recipe.options)
    if ("--" + option.dotted() == name) return &option;
  return nullptr;
}

std::string verbs_with(const std::function<bool(Verb)>& has) {
  std::vector<std::string_view> names;
  for (const VerbRow& row : verb_rows)
    if (has(row.verb)) names.push_back(row.name);
  std::string text;
  for (std::size_t n = 0; n < names.size(); ++n) {
    if (n > 0) text += n + 1 == names.size() ? " and " : ", ";
    text += names[n];
  }
  return text;
}

}  // namespace sinter::detail::cli
