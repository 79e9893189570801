// SPDX-License-Identifier: Apache-2.0
#include "cli/unknown_flag.hpp"

#include <algorithm>
#include <tuple>

#include "base/nearest.hpp"

namespace sinter::detail::cli {
namespace {

/// The flag that a row means for a verb and a recipe.
struct Meant {
  std::string name;  // such as "--optimizer.lr"; empty if the recipe and the verbs have none
  bool settable = false;
};

std::string flag_name(std::string_view target) {
  return (target.starts_with('-') ? "" : "--") + std::string(target);
}

bool can_set(const std::string& name, Verb verb, const RecipeView& recipe) {
  if (const Option* option = find_option(recipe, name))
    return option->adjustable && takes_options_of(verb, option->slot);
  return std::ranges::any_of(all_flags(),
                             [&](const Flag& f) { return f.name == name && f.of(verb) && !f.old; });
}

/// Returns the first flag of a row that the verb can set; else the first option that the recipe has;
/// else the first flag of another verb.
Meant meant_by(const OtherWord& row, Verb verb, const RecipeView& recipe) {
  const std::vector<std::string_view> targets = split_words(row.means);
  for (std::string_view target : targets)
    if (can_set(flag_name(target), verb, recipe)) return {flag_name(target), true};
  for (std::string_view target : targets)
    if (find_option(recipe, flag_name(target))) return {flag_name(target)};
  for (std::string_view target : targets)
    if (find_flag(target)) return {std::string(target)};
  return {};
}

std::string policy_in(const RecipeView& recipe, std::string_view slot) {
  for (const std::string& policy : recipe.policies)
    if (policy.starts_with(std::string(slot) + ": ")) return policy.substr(slot.size() + 2);
  return "none";
}

/// Says why the verb cannot set a flag that exists. `typed` is how the user wrote it.
std::string why_not(const std::string& typed, const std::string& name, Verb verb,
                    const RecipeView& recipe) {
  const std::string what = typed == name ? name : fmt::format("{} is {} here. That", typed, name);
  if (const Option* option = find_option(recipe, name)) {
    if (option->adjustable)
      return fmt::format("{} is a flag of {}, not of {}.", what,
                         verbs_with([&](Verb v) { return takes_options_of(v, option->slot); }),
                         name_of(verb));
    if (!option->why_fixed.empty())
      return fmt::format(
          "{} is no flag of this recipe: {}. Leave it out, or change the recipe's file and build "
          "again.",
          what, option->why_fixed);
    return fmt::format(
        "{} is no flag: {} is part of the recipe's type. Its value is {}. Change it in the "
        "recipe's file and build again.",
        what, option->dotted(), text_of(*option));
  }
  return fmt::format("{} is a flag of {}, not of {}.", what, verbs_with([&](Verb v) {
                       return std::ranges::any_of(
                           all_flags(), [&](const Flag& f) { return f.name == name && f.of(v); });
                     }),
                     name_of(verb));
}

/// Answers a word of another trainer.
std::string answer(const OtherWord& row, const std::string& typed, Verb verb,
                   const RecipeView& recipe) {
  const std::string none = fmt::format("{} has no flag '{}'", name_of(verb), typed);
  const Meant meant = meant_by(row, verb, recipe);
  const bool slot =
      !row.means.empty() && !row.is_flag() && row.means.find_first_of(".-") == row.means.npos;
  if (slot)
    return fmt::format(
        "{}: the recipe's {} decides it, which is {}. Choose {} in the recipe's "
        "file and build again.",
        none, row.means, policy_in(recipe, row.means), row.says);
  if (!row.is_flag()) {
    std::string text = fmt::format("{}. {}.", none, row.says);
    if (const Option* option = find_option(recipe, meant.name); option && meant.settable)
      text += fmt::format(" The flag is {}, now {}.", meant.name, text_of(*option));
    return text;
  }
  if (meant.settable) return fmt::format("{}; write {}.", none, meant.name);
  if (!meant.name.empty()) return why_not(typed, meant.name, verb, recipe);
  const std::string_view option = split_words(row.means).front();
  if (option.starts_with('-'))
    return fmt::format("{}; `{} --help` lists its flags.", none, name_of(verb));
  const std::string_view slot_of_it = option.substr(0, option.find('.'));
  return fmt::format("{}: it would be {}, which this recipe's {}, {}, does not have.", none, option,
                     slot_of_it, policy_in(recipe, slot_of_it));
}

/// Returns the flag that the verb can set whose last part is nearest; empty if none is near.
std::string nearest_flag(std::string_view typed, Verb verb, const RecipeView& recipe) {
  using Rank = std::tuple<int, int, std::string>;  // edits of the last part, of the whole, the flag
  const std::string_view whole = typed.substr(0, 200), last = last_part(whole);
  Rank best{int(last.size()) / 2 + 1, 0, ""};
  const auto consider = [&](const std::string& spelling, const std::string& name) {
    const std::string_view part = last_part(spelling);
    const bool begins = !last.empty() && (spelling.starts_with(whole) || part.starts_with(last));
    best = std::min(best, Rank{begins ? 0 : edits(last, part), edits(whole, spelling), name});
  };
  consider("--help", "--help");
  for (const Flag& flag : all_flags())
    if (flag.of(verb) && !flag.old) consider(std::string(flag.name), std::string(flag.name));
  for (const Option& option : recipe.options)
    if (option.adjustable && takes_options_of(verb, option.slot))
      consider("--" + option.dotted(), "--" + option.dotted());
  for (const auto& [name, words] : accepted_words(verb, recipe))
    for (const std::string& word : words) consider(word, name);
  return std::get<std::string>(best);
}

}  // namespace

AcceptedWords accepted_words(Verb verb, const RecipeView& recipe) {
  AcceptedWords accepted;
  for (const OtherWord& row : other_words()) {
    if (!row.is_flag()) continue;
    const Meant meant = meant_by(row, verb, recipe);
    if (!meant.settable) continue;
    for (std::string_view word : split_words(row.words))
      for (std::string& spelling : spellings(word))
        if (!find_flag(spelling)) accepted[meant.name].push_back(std::move(spelling));
  }
  return accepted;
}

void refuse_flag(const std::string& word, Verb verb, const RecipeView& recipe) {
  const std::string typed(name_part(word));
  if (find_flag(typed) || find_option(recipe, typed))
    throw UsageError(why_not(typed, typed, verb, recipe));
  if (const Flag* turned_off = find_negative(typed)) {
    const std::string name(turned_off->name);
    throw UsageError(why_not(name, name, verb, recipe));
  }
  const std::string near = nearest_flag(typed, verb, recipe);
  const bool misspelt_slot = typed.find('.') != typed.npos && last_part(near) == last_part(typed);
  if (const OtherWord* row = find_other_word(typed); row && !misspelt_slot)
    throw UsageError(answer(*row, typed, verb, recipe));
  if (near.empty())
    throw UsageError(fmt::format("{} has no flag '{}'; `{} --help` lists its flags.", name_of(verb),
                                 typed, name_of(verb)));
  throw UsageError(
      fmt::format("{} has no flag '{}'; the nearest is '{}'.", name_of(verb), typed, near));
}

}  // namespace sinter::detail::cli
