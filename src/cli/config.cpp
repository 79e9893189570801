// SPDX-License-Identifier: Apache-2.0
#include "cli/config.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/output.hpp"
#include "cli/unknown_flag.hpp"
#include "cli/verbs.hpp"
#include "files/json.hpp"
#include "sinter/files/io.hpp"
#include "trainer/state_json.hpp"

namespace sinter::detail::cli {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::uint64_t max_config_bytes = 64 << 20;  // as much as a run.json may have

/// Two flags of a verb of which a command has one at most.
struct ExclusivePair {
  Verb verb;
  std::string_view one, other;
};
constexpr ExclusivePair exclusive_pairs[] = {
    {Verb::train, "--steps", "--epochs"},
    {Verb::train, "--steps", "--examples"},
    {Verb::train, "--epochs", "--examples"},
    {Verb::predict, "--ids", "--text"},
    {Verb::predict, "--ids", "--tokenizer"},
    {Verb::export_folder, "--out", "--gguf"},
    {Verb::export_folder, "--max-shard-size", "--gguf"},
    {Verb::export_folder, "--weights", "--seed"},
    {Verb::report, "--text", "--out"},
    {Verb::report, "--text", "--json"},
    {Verb::tokenize, "--text", "--data"},
    {Verb::tokenize, "--text", "--out"},
};

/// Flags whose values are about the command, so that no file has them.
bool is_of_command(std::string_view name) {
  return name == "--config" || name == "--print-config" || name == "--help";
}

/// Returns the key of a flag: eval_every of --eval-every. An option's is its dotted name.
std::string key_of(std::string_view flag) {
  std::string key(flag.substr(2));
  std::ranges::replace(key, '-', '_');
  return key;
}

/// Returns the flag of a key, which may be written with '-' as well.
std::string flag_of(std::string key) {
  if (key.find('.') == key.npos) std::ranges::replace(key, '_', '-');
  return "--" + key;
}

std::string shown(const Json& value) {
  const std::string text =
      printable(value.dump(-1, ' ', false, Json::error_handler_t::replace), 60);
  if (value.is_string()) return "the text " + text;
  if (value.is_array()) return "the list " + text;
  return value.is_object() ? "an object" : text;
}

[[noreturn]] void refuse_type(const std::string& place, std::string_view takes, const Json& value) {
  throw UsageError(fmt::format("{} takes {}, not {}.", place, takes, shown(value)));
}

std::string number_text(const std::string& place, const Json& value) {
  if (!value.is_number()) refuse_type(place, "a number", value);
  return value.dump();
}

/// Returns the values of a flag as a command line gives them; none if it is left out.
std::vector<std::string> texts_of(const Flag& flag, const std::string& place, const Json& value) {
  if (value.is_null()) return {};
  if (flag.optional()) {  // --resume: a switch with one word
    if (value.is_string()) return {value.get<std::string>()};
    if (!value.is_boolean()) refuse_type(place, "true, false or a text", value);
    return value.get<bool>() ? std::vector<std::string>{""} : std::vector<std::string>();
  }
  if (flag.value.empty()) {
    if (!value.is_boolean()) refuse_type(place, "true or false", value);
    return value.get<bool>() ? std::vector<std::string>{""} : std::vector<std::string>();
  }
  if (flag.takes_number()) return {number_text(place, value)};
  const bool is_list = flag.many() && value.is_array();
  const auto is_text = [](const Json& one) { return one.is_string(); };
  if (is_list ? !std::ranges::all_of(value, is_text) : !value.is_string())
    refuse_type(place, flag.many() ? "a text, or a list of them" : "a text", value);
  return is_list ? value.get<std::vector<std::string>>()
                 : std::vector<std::string>{value.get<std::string>()};
}

std::vector<std::string> texts_of(const Option& option, const std::string& place,
                                  const Json& value) {
  if (value.is_null()) return {};
  if (!option.adjustable) {
    if (value == option_value(option)) return {};
    throw UsageError(fmt::format(
        "{} is {}, and {} in this binary: it is part of the recipe's type. Take the binary that "
        "the file is of, or leave the key out.",
        place, shown(value), text_of(option)));
  }
  if (!std::holds_alternative<bool*>(option.value)) return {number_text(place, value)};
  if (!value.is_boolean()) refuse_type(place, "true or false", value);
  return {value.get<bool>() ? "true" : "false"};
}

/// Reads one file.
class Reader {
  const std::string& file;
  const Verb verb;
  const RecipeView& recipe;
  std::set<std::string> seen;
  Config config;

 public:
  Reader(const std::string& f, Verb v, const RecipeView& r) : file(f), verb(v), recipe(r) {}

  Config read() {
    Json object;
    try {
      object = parse_json(read_file(file, max_config_bytes), deepest_json, DoubledKeys::refused);
    } catch (const JsonError& error) {
      throw UsageError(fmt::format("--config {}: it is no JSON ({}).", file, error.what()));
    }
    if (object.is_array()) object = begin_of_run(object);
    if (!object.is_object())
      throw UsageError(
          fmt::format("--config {}: a configuration is an object of flags, such as "
                      "{{\"steps\": 100}}, or a run's run.json. This is {}.",
                      file, shown(object)));
    for (const auto& [key, value] : object.items()) {
      if (key == "recipe") {
        compare_name(value);
      } else if (key == "policies") {
        compare_policies(value);
      } else {
        add(key, value);
      }
    }
    return std::move(config);
  }

 private:
  std::string place(const std::string& key) const {
    return fmt::format("{}: \"{}\"", file, printable(key));
  }

  /// The newest beginning in a run.json. (A folder has several if those before left no checkpoint.)
  Json begin_of_run(const Json& starts) {
    std::size_t after = 0;
    for (std::size_t k = starts.size(); k-- > 0; ++after) {
      if (!starts[k].is_object() || !starts[k].contains("config")) continue;
      if (after > 0)
        config.notes += fmt::format(
            "{}: the configuration is the one that the run has begun with; it was resumed {} "
            "times.\n",
            file, after);
      return starts[k]["config"];
    }
    throw UsageError(fmt::format(
        "--config {}: no start in this list has a \"config\": it is no run.json, or one of a "
        "version before --config. Give the flags of its \"command\" and --print-config.",
        file));
  }

  void compare_name(const Json& name) {
    if (!name.is_string()) refuse_type(place("recipe"), "a text", name);
    if (name != recipe.name)
      config.notes += fmt::format("{} is of the recipe {}, and this binary is of {}.\n", file,
                                  printable(name.get<std::string>()), recipe.name);
  }
  void compare_policies(const Json& policies) {
    if (!policies.is_array()) refuse_type(place("policies"), "a list of texts", policies);
    for (const Json& policy : policies) {
      if (!policy.is_string()) refuse_type(place("policies"), "a list of texts", policies);
      const std::string there = policy.get<std::string>();
      if (std::ranges::find(recipe.policies, there) != recipe.policies.end()) continue;
      const std::string slot = there.substr(0, there.find(": ") + 1);
      const auto same_slot = [&](const std::string& one) { return one.starts_with(slot); };
      const auto here = std::ranges::find_if(recipe.policies, same_slot);
      config.notes += fmt::format("{} is of {}, and this binary of {}.\n", file, printable(there),
                                  here == recipe.policies.end() ? "no such policy" : *here);
    }
  }

  void add(const std::string& key, const Json& value) {
    const std::string name = flag_of(key);
    const Flag* const flag = flag_of_verb(name);
    const Option* option = find_option(recipe, name);
    if (option && !takes_options_of(verb, option->slot)) option = nullptr;
    if (!flag && !option && value.is_object() && !value.empty()) {  // {"optimizer": {"lr": …}}
      for (const auto& [inner, one] : value.items()) add(key + "." + inner, one);
      return;
    }
    if (!flag && !option) refuse_key(key, name);
    if (!seen.insert(name).second)
      throw UsageError(fmt::format("{} is there twice, in two spellings.", place(key)));
    std::vector<std::string> texts =
        flag ? texts_of(*flag, place(key), value) : texts_of(*option, place(key), value);
    if (!texts.empty()) config.entries.push_back({name, place(key), std::move(texts)});
  }
  const Flag* flag_of_verb(const std::string& name) const {
    const auto found = std::ranges::find_if(all_flags(), [&](const Flag& flag) {
      return flag.name == name && flag.of(verb) && !is_of_command(name);
    });
    return found == all_flags().end() ? nullptr : &*found;
  }
  [[noreturn]] void refuse_key(const std::string& key, const std::string& name) const {
    if (is_of_command(name))
      throw UsageError(fmt::format("{} is for the command line only.", place(key)));
    try {
      refuse_flag(name, verb, recipe);
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("{}: {}", place(key), error.what()));
    }
  }
};

/// Returns the value of a flag as JSON; null for one that was left out and has no usual value.
Json value_of(const Flag& flag, const std::vector<std::string>* texts) {
  if (flag.value.empty()) return texts != nullptr;
  if (flag.optional() && (!texts || texts->front().empty())) return texts != nullptr;
  if (!texts && flag.usual.empty()) return nullptr;
  if (texts && flag.many()) return *texts;
  std::string text = texts ? texts->front() : std::string(flag.usual);
  if (!flag.takes_number()) return text;
  if (Json whole = Json::parse(text, nullptr, false); whole.is_number()) return whole;
  return number_of<double>(std::string(flag.name), text, Range());  // such as ".5"
}

}  // namespace

Config read_config(const std::string& file, Verb verb, const RecipeView& recipe) {
  return Reader(file, verb, recipe).read();
}

bool is_excluded(std::string_view name, const Arguments& typed) {
  for (const auto& [verb, one, other] : exclusive_pairs)
    if (verb == typed.verb && ((name == one && typed.given.contains(other)) ||
                               (name == other && typed.given.contains(one))))
      return true;
  return (name == "--weights" || name == "--adapter") && typed.resume && !typed.resume_or_begin;
}

Json config_of(const RecipeView& recipe, const Arguments& a) {
  Json config{{"recipe", recipe.name}};
  if (row_of(a.verb).takes_options) config["policies"] = recipe.policies;
  for (const Flag& flag : all_flags()) {
    if (!flag.of(a.verb) || flag.old || is_of_command(flag.name)) continue;
    const auto given = a.given.find(flag.name);
    Json& value = config[key_of(flag.name)];
    if (given != a.given.end()) {
      value = value_of(flag, &given->second);
    } else if (!is_excluded(flag.name, a)) {
      value = value_of(flag, nullptr);
    }
  }
  for (const Option& option : recipe.options)
    if (row_of(a.verb).takes_options || a.given.contains("--" + option.dotted()))
      config[option.dotted()] = option_value(option);
  return config;
}

int print_config(const RecipeView& recipe, const Arguments& a) {
  if (a.resume && !a.resume_or_begin)
    throw UsageError(
        "--print-config and --resume exclude each other: a resumed run goes on as its checkpoint "
        "says. Leave --resume out; --config RUN/run.json has what the run has begun with.");
  std::string typed, from_file;
  for (const auto& [name, texts] : a.given) {
    std::string& list = a.from_config.contains(name) ? from_file : typed;
    if (!is_of_command(name)) list += (list.empty() ? "" : ", ") + name.substr(2);
  }
  for (const Flag& flag : all_flags())
    if (flag.of(a.verb) && a.turned_off.contains(flag.name))
      typed += (typed.empty() ? "" : ", ") + flag.negative().substr(2);
  if (!a.quiet && !typed.empty()) note("from the command line: " + typed);
  if (!a.quiet && !from_file.empty()) note(fmt::format("from {}: {}", *a.config, from_file));
  try {
    print_result(config_of(recipe, a).dump(2) + "\n");
  } catch (const Json::exception&) {
    throw Error("A word of the command line is no UTF-8, so that no JSON can hold it.");
  }
  return exit_done;
}

}  // namespace sinter::detail::cli
