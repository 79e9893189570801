// SPDX-License-Identifier: Apache-2.0
#include "cli/arguments.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/nearest.hpp"
#include "cli/config.hpp"
#include "cli/flags.hpp"
#include "cli/help.hpp"
#include "cli/unknown_flag.hpp"
#include "sinter/version.hpp"

namespace sinter::detail::cli {
namespace {

std::string all_verbs() {
  return verbs_with([](Verb) { return true; });
}

Verb verb_of(const std::string& word, const std::string& program) {
  std::vector<std::string_view> names;
  for (const VerbRow& row : verb_rows) {
    if (row.name == word) return row.verb;
    names.push_back(row.name);
  }
  std::string all = all_verbs();
  if (is_flag(word))
    throw UsageError(fmt::format("The first word must be a verb ({}), not '{}': {} train {} …", all,
                                 word, program, word));
  throw UsageError(fmt::format("There is no verb '{}'; the nearest is '{}'. The verbs are {}.",
                               word, nearest(word, names), all));
}

void set_option(const Option& option, const std::string& flag, const std::string& text) {
  std::visit(
      [&](auto value) {
        using Value = decltype(value);
        if constexpr (std::is_same_v<Value, bool*>) {
          if (text != "true" && text != "false")
            throw UsageError(fmt::format("{} takes true or false, not '{}'.", flag, text));
          *value = text == "true";
        } else if constexpr (std::is_pointer_v<Value>) {
          *value = number_of<std::remove_pointer_t<Value>>(flag, text,
                                                           option.range ? *option.range : Range());
        } else {
          throw UsageError(fmt::format("{} is a word and cannot be changed.", flag));
        }
      },
      option.value);
}

/// Returns the words of a flag, after the checks that all flags share.
Given given_by(const CLI::Option& option, const RecipeView& recipe, bool many) {
  Given given{option.get_name(), option.results()};
  for (const std::string& text : given.texts) {
    std::string_view name = name_part(text);
    if (find_flag(name) || find_option(recipe, name) ||
        (name.starts_with("--") && find_other_word(name)))
      throw UsageError(fmt::format("{} needs a value, but '{}' follows it.", given.flag, text));
  }
  if (!many && option.count() > 1)
    throw UsageError(fmt::format("{} is given {} times.", given.flag, option.count()));
  return given;
}

/// The CLI11 application of a verb.
class Parser {
  const RecipeView& recipe;
  Arguments arguments;
  CLI::App app;
  AcceptedWords accepted;  // words of other trainers
  std::vector<std::pair<CLI::Option*, const Flag*>> flags;
  std::vector<std::pair<CLI::Option*, const Flag*>> negatives;
  std::vector<std::pair<CLI::Option*, const Option*>> options;

 public:
  Parser(const RecipeView& r, Verb verb, const std::string& program)
      : recipe(r), app(description_of(verb, r)), accepted(accepted_words(verb, r)) {
    arguments.verb = verb;
    for (const Option& option : r.options) arguments.defaults[option.dotted()] = text_of(option);
    app.name(program + " " + std::string(name_of(verb)) + std::string(row_of(verb).words));
    app.formatter(help_formatter());
    app.footer(footer_of(verb, r));
    app.set_help_flag("-h,--help", "Print this text.");
    app.allow_extras();
    for (const Flag& flag : all_flags())
      if (flag.of(verb)) add(flag);
    for (const Option& option : recipe.options)
      if (option.adjustable && takes_options_of(verb, option.slot)) add(option);
  }

  Parsed parse(std::vector<std::string> words) {
    std::reverse(words.begin(), words.end());  // CLI11 reads them from the end
    try {
      app.parse(std::move(words));
    } catch (const CLI::CallForHelp&) {
      return {std::nullopt, app.help()};
    } catch (const CLI::ParseError& error) {
      throw UsageError(reworded(error));
    }
    for (const std::string& extra : app.remaining()) {
      if (is_flag(extra)) refuse_flag(extra, arguments.verb, recipe);
      if (row_of(arguments.verb).words.empty())
        throw UsageError(
            fmt::format("'{}' belongs to no flag. Every value needs its flag before it.", extra));
      arguments.runs.push_back(extra);
    }
    for (auto [option, flag] : flags)
      if (option->count() > 0) set(*flag, given_by(*option, recipe, flag->many()));
    for (auto [option, target] : options)
      if (option->count() > 0) set(*target, given_by(*option, recipe, false));
    for (auto [option, flag] : negatives)
      if (option->count() > 0) turn_off(*flag, option->count());
    if (arguments.config) take_config(*arguments.config);
    // With a checkpoint, take_over() checks the options together with those that it holds.
    if (!arguments.resume) require_good_options(recipe);
    return {arguments, ""};
  }

 private:
  void set(const Flag& flag, const Given& given) {
    arguments.given[std::string(flag.name)] = given.texts;
    flag.set(arguments, given);
  }
  void set(const Option& option, const Given& given) {
    arguments.given["--" + option.dotted()] = given.texts;
    set_option(option, given.flag, given.texts.front());
    arguments.options.push_back(option.dotted());
  }
  void turn_off(const Flag& flag, std::size_t times) {
    if (times > 1) throw UsageError(fmt::format("{} is given {} times.", flag.negative(), times));
    if (arguments.given.contains(flag.name))
      throw UsageError(fmt::format("{} and {} exclude each other.", flag.name, flag.negative()));
    arguments.turned_off.insert(std::string(flag.name));
  }
  /// Sets what a file gives and the command line does not.
  void take_config(const std::string& file) {
    Config config = read_config(file, arguments.verb, recipe);
    arguments.notes += config.notes;
    const Arguments typed = arguments;
    for (Config::Entry& entry : config.entries) {
      if (typed.given.contains(entry.name) || typed.turned_off.contains(entry.name) ||
          is_excluded(entry.name, typed))
        continue;
      const Given given{entry.place, std::move(entry.texts)};
      if (const Option* option = find_option(recipe, entry.name)) {
        set(*option, given);
      } else {
        set(*flag_of(entry.name), given);
      }
      arguments.from_config.insert(entry.name);
    }
  }
  const Flag* flag_of(std::string_view name) const {
    for (auto [option, flag] : flags)
      if (flag->name == name) return flag;
    return nullptr;
  }
  void add(const Flag& flag) {
    CLI::Option* option;
    if (flag.value.empty()) {
      option = app.add_flag(names_of(std::string(flag.name)))->disable_flag_override();
    } else {
      option = app.add_option(names_of(std::string(flag.name)));
      option->type_name(std::string(flag.value));
      if (flag.many()) option->expected(1, 1 << 20);
      if (flag.optional()) option->expected(0, 1);
      option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    }
    std::string_view own = flag.help_of ? flag.help_of(recipe) : "";
    option->description(std::string(own.empty() ? flag.help : own));
    option->group(flag.old ? "" : "Flags");
    flags.emplace_back(option, &flag);
    if (const std::string negative = flag.negative(); !negative.empty()) {
      option = app.add_flag(negative)->disable_flag_override()->group("");  // footer_of() tells it
      negatives.emplace_back(option, &flag);
    }
  }
  void add(const Option& source) {
    CLI::Option* option = app.add_option(names_of("--" + source.dotted()));
    option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    option->type_name("VALUE");
    std::string description = "Default: " + text_of(source);
    if (std::string range = range_text(source); !range.empty()) description += "; " + range;
    option->description(description + ".");
    option->group("Options of the recipe's policies");
    options.emplace_back(option, &source);
  }
  /// Returns a flag's name and the words that are accepted for it, as CLI11 wants them.
  std::string names_of(const std::string& name) const {
    std::string names = name;
    if (const auto words = accepted.find(name); words != accepted.end())
      for (const std::string& word : words->second) names += "," + word;
    return names;
  }
  /// Removes the missing type with which CLI11 ends messages about flags without a value.
  static std::string reworded(const CLI::ParseError& error) {
    std::string what = error.what();
    if (what.ends_with(" missing")) return what.substr(0, what.find(':')) + " needs a value.";
    if (std::size_t at = what.find(" was given a disallowed"); at != what.npos)
      return switch_text("--" + what.substr(0, at));
    return what;
  }
  static std::string switch_text(const std::string& name) {
    const Flag* const flag = find_flag(name);
    const std::string negative = flag ? flag->negative() : "";
    return name + " is a switch and takes no value" +
           (negative.empty() ? "." : "; " + negative + " turns it off.");
  }
};

}  // namespace

void require_good_options(const RecipeView& recipe) {
  try {
    check_options(recipe);
  } catch (const ArgumentError& error) {
    throw UsageError(error.what());
  }
}

std::string range_text(const Option& option) {
  if (!option.range) return "";
  const TextBuilder letters = option.range->text();
  return std::string(letters.view());
}

Parsed parse(const RecipeView& recipe, const std::string& program,
             const std::vector<std::string>& words) {
  if (words.empty()) throw UsageError("A verb is missing: " + all_verbs() + ".");
  const std::string& first = words.front();
  if (first == "--help" || first == "-h") return {std::nullopt, overall_help(recipe, program)};
  if (first == "--version")
    return {std::nullopt, fmt::format("{} (Sinter {})\n", recipe.name, version())};
  Parser parser(recipe, verb_of(first, program), program);
  Parsed parsed = parser.parse({words.begin() + 1, words.end()});
  if (parsed.arguments) {
    parsed.arguments->binary = program;
    parsed.arguments->words = words;
  }
  return parsed;
}

}  // namespace sinter::detail::cli
