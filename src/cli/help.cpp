// SPDX-License-Identifier: Apache-2.0
#include "cli/help.hpp"

#include <CLI/CLI.hpp>

#include "cli/plan_text.hpp"
#include "cli/unknown_flag.hpp"
#include "cli/verbs.hpp"

namespace sinter::detail::cli {
namespace {

constexpr std::string_view exit_codes = R"(Exit codes:
  0    done
  1    an error
  2    a wrong command line
  3    a loss or gradient that is not finite
  75   stopped by a signal after a complete step, with a checkpoint to resume from
  130  ended at once by a second SIGINT)";

/// CLI11's formatter, which shows only the names of values, and no type OPTION.
class Formatter : public CLI::Formatter {
 public:
  Formatter() { column_width(34); }
  std::string make_usage(const CLI::App* app, std::string) const override {
    return "\nusage: " + app->get_name() + " [FLAG…]\n";
  }
  /// Leaves out the words of other trainers; footer_of() lists them.
  std::string make_option_name(const CLI::Option* option, bool) const override {
    const std::string& name = option->get_lnames().front();
    return name == "help" ? "-h,--help" : "--" + name;
  }
  std::string make_option_opts(const CLI::Option* option) const override {
    return option->get_type_size() == 0 ? "" : " " + option->get_type_name();
  }
};

/// Says which words of other trainers a verb accepts; empty if none.
std::string accepted_text(Verb verb, const RecipeView& recipe) {
  std::string text;
  for (const auto& [flag, words] : accepted_words(verb, recipe)) {
    std::string list;
    for (const std::string& word : words)
      if (word.find('_') == word.npos) list += (list.empty() ? "" : ", ") + word;
    text += fmt::format("  {:<31} {}\n", flag, list);
  }
  return text.empty() ? text : "Words of other trainers, accepted for these flags:\n" + text + "\n";
}

}  // namespace

std::shared_ptr<CLI::FormatterBase> help_formatter() { return std::make_shared<Formatter>(); }

std::string overall_help(const RecipeView& recipe, const std::string& program) {
  std::string text = fmt::format("The trainer of the recipe {} ({}).\n\nusage: {} VERB [FLAG…]\n\n",
                                 recipe.name, policy_types(recipe), program);
  for (const VerbRow& row : verb_rows) text += fmt::format("  {:<17}{}\n", row.name, row.summary);
  text += fmt::format(
      "\n  --help      this text; after a verb: its flags\n"
      "  --version   the recipe and Sinter's version\n\n"
      "Begin with: {} train --data FOLDER --out runs/first\n\n{}\n",
      program, exit_codes);
  return text;
}

std::string description_of(Verb verb, const RecipeView& recipe) {
  std::string text = fmt::format("{} {}: {}.", recipe.name, name_of(verb), row_of(verb).summary);
  if (has_data_for(recipe, verb)) return text;
  if (recipe.data.opens) return text + "\nNot with this recipe: its data policy has no tokenizer.";
  text +=
      "\nNot with this recipe: its data comes from a program of your own, which trains it with "
      "Trainer.";
  return text;
}

std::string footer_of(Verb verb, const RecipeView& recipe) {
  std::string text;
  if (row_of(verb).takes_options) {
    for (const Option& option : recipe.options)
      if (!option.adjustable)
        text += fmt::format("  {:<31} {}\n", option.dotted(), text_of(option));
    if (!text.empty())
      text = "Part of the recipe's type, changed in its file only:\n" + text + "\n";
  }
  text +=
      "Flags win over the file of --config. Each switch has a negative form, such as --no-json, "
      "which\n"
      "turns off what a file turns on; that of --no-libtorch is --libtorch.\n\n";
  return text + accepted_text(verb, recipe) + std::string(exit_codes);
}

}  // namespace sinter::detail::cli
