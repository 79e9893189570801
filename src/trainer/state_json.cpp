// SPDX-License-Identifier: Apache-2.0
#include "trainer/state_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <concepts>
#include <nlohmann/json.hpp>
#include <span>

#include "files/json.hpp"
#include "sinter/error.hpp"
#include "sinter/files/io.hpp"

namespace sinter::detail {

using Json = nlohmann::ordered_json;

Json option_value(const Option& option) {
  return option.read([](const auto& value) -> Json { return value; });
}

namespace {

/// Reads a number or a switch from a file.
/// throws    JsonError or nlohmann::json::exception if it is none, or T cannot hold it
template <class T>
T value_of(const Json& json, const std::string& name) {
  if constexpr (std::integral<T> && !std::same_as<T, bool>)
    return integer_of<T>(json, name);
  else
    return json.get<T>();
}

std::uint64_t seed_of(const std::string& text) {
  std::uint64_t seed = 0;
  const char* end = text.data() + text.size();
  auto [stopped, error] = std::from_chars(text.data(), end, seed);
  if (error != std::errc{} || stopped != end)
    throw JsonError(fmt::format("'seed' is '{}', which is no number of 64 bits", printable(text)));
  return seed;
}

}  // namespace

void set_option_value(const Option& option, const Json& json) {
  std::visit(
      [&](auto value) {
        if constexpr (std::is_pointer_v<decltype(value)>)
          *value = value_of<std::remove_pointer_t<decltype(value)>>(json, option.dotted());
      },
      option.value);
}

Json state_json(const RecipeView& recipe, std::int64_t step, std::uint64_t seed) {
  auto values = [](const std::vector<Option>& fields) {
    Json object = Json::object();
    for (const Option& field : fields) object[field.dotted()] = option_value(field);
    return object;
  };
  Json state{{"recipe", recipe.name}, {"step", step}, {"seed", std::to_string(seed)}};
  if (recipe.run_steps > 0) state["run_steps"] = recipe.run_steps;
  state["policies"] = recipe.policies;
  state["free_slots"] = recipe.free_slots;
  state["options"] = values(recipe.options);
  state["state"] = values(recipe.run_state);
  return state;
}

SavedState read_state(const std::string& info, const std::string& checkpoint) {
  try {
    Json trainer = Json::parse(info).at("trainer");
    SavedState saved;
    saved.step = integer_of<std::int64_t>(trainer.at("step"), "'step'");
    saved.seed = seed_of(trainer.at("seed").get<std::string>());
    if (trainer.contains("run_steps"))  // older versions did not write it
      saved.run_steps = integer_of<std::int64_t>(trainer.at("run_steps"), "'run_steps'");
    saved.recipe = trainer.value("recipe", "");
    saved.policies = trainer.at("policies").get<std::vector<std::string>>();
    if (trainer.contains("free_slots"))  // older versions did not write it
      saved.free_slots = trainer.at("free_slots").get<std::vector<std::string>>();
    for (const auto& [name, value] : trainer.at("options").items())
      saved.options.emplace_back(name, value.dump());
    for (const auto& [name, value] : trainer.at("state").items())
      saved.state.emplace_back(name, value.dump());
    return saved;
  } catch (const std::exception& e) {
    throw FileError("Cannot resume from " + checkpoint +
                    ": its manifest has no complete record of "
                    "a trainer (" +
                    e.what() +
                    "). Resume from another checkpoint, or start from "
                    "its weights alone with --weights.");
  }
}

namespace {

/// True if a slot is decisive: neither recipe calls it free.
bool is_decisive(std::string_view slot, const SavedState& saved, const RecipeView& recipe) {
  return std::ranges::find(recipe.free_slots, slot) == recipe.free_slots.end() &&
         std::ranges::find(saved.free_slots, slot) == saved.free_slots.end();
}

std::string difference(const std::string& what, const std::string& saved, const std::string& here) {
  return "\n  " + what + ": " + printable(saved) + " in the checkpoint, " + here +
         " in this binary";
}

std::string policy_differences(const SavedState& saved, const RecipeView& recipe) {
  std::string result;
  auto decisive = [&](const std::vector<std::string>& all) {
    std::vector<std::string> kept;
    for (const std::string& p : all)
      if (is_decisive(p.substr(0, p.find(':')), saved, recipe)) kept.push_back(p);
    return kept;
  };
  auto then = decisive(saved.policies), now = decisive(recipe.policies);
  for (std::size_t k = 0; k < std::max(then.size(), now.size()) && k < now.size() + 10; ++k) {
    std::string a = k < then.size() ? then[k] : "nothing", b = k < now.size() ? now[k] : "nothing";
    if (a != b) result += difference("policy", a, b);
  }
  return result;
}

/// Names the recipe of a checkpoint, which is not the binary's.
std::string name_of_other(const SavedState& saved, const RecipeView& recipe) {
  if (saved.recipe.empty()) return "another recipe";
  if (saved.recipe == recipe.name) return "another recipe that is called " + recipe.name + ", too";
  return "another recipe, " + printable(saved.recipe) + ", and this binary is of " + recipe.name;
}

}  // namespace

void require_same_recipe(const SavedState& saved, const RecipeView& recipe,
                         const std::string& checkpoint) {
  std::string differences = policy_differences(saved, recipe);
  for (const Option& option : recipe.options) {
    if (option.adjustable || !is_decisive(option.slot, saved, recipe)) continue;
    std::string here = option_value(option).dump(), there = "nothing";
    bool is_saved = false;
    for (const auto& [name, value] : saved.options)
      if (name == option.dotted()) there = value, is_saved = true;
    // An option that an older version did not have acted as the default does.
    if (!is_saved && option.is_default) continue;
    if (here != there) differences += difference(option.dotted(), there, here);
  }
  if (!differences.empty())
    throw FileError("Cannot resume from " + checkpoint + ": it is of " +
                    name_of_other(saved, recipe) + "." + differences +
                    "\nResume with the binary that made it, or start from its weights alone with "
                    "--weights.");
}

void require_readable_state(const SavedState& saved, const RecipeView& recipe,
                            const std::string& checkpoint) {
  for (const Option& field : recipe.run_state)
    for (const auto& [name, text] : saved.state) try {
        if (name == field.dotted())
          field.read([&](const auto& now) {
            (void)value_of<std::decay_t<decltype(now)>>(Json::parse(text), name);
          });
      } catch (const std::exception& e) {
        throw FileError("Cannot resume from " + checkpoint + ": its manifest says that " + name +
                        " is " + printable(text) + ", which is no value of it (" + e.what() +
                        "). Resume from another checkpoint, or start from its weights alone with "
                        "--weights.");
      }
}

void restore_state(const SavedState& saved, RecipeView& recipe) {
  for (const Option& field : recipe.run_state)
    for (const auto& [name, text] : saved.state)
      if (name == field.dotted()) set_option_value(field, Json::parse(text));
}

void restore_length(const SavedState& saved, std::int64_t told, RecipeView& recipe) {
  if (told > 0) return;
  if (saved.run_steps > 0) recipe.run_steps = saved.run_steps;
  if (saved.run_steps > 0 || recipe.stated_horizon() != 0) return;
  for (const Option& option : recipe.options)
    for (const auto& [name, text] : saved.options)
      if (option.dotted() == "schedule.steps" && name == "schedule.steps")
        set_option_value(option, Json::parse(text));
}

namespace {

Json object_of(const std::vector<ConfigEntry>& entries);

Json json_of(const ConfigEntry& entry) {
  return std::visit(
      []<class Value>(const Value& value) -> Json {
        if constexpr (std::same_as<Value, std::vector<ConfigEntry>>) {
          return object_of(value);
        } else {
          return value;
        }
      },
      entry.value);
}

Json object_of(const std::vector<ConfigEntry>& entries) {
  Json object = Json::object();
  for (const ConfigEntry& entry : entries) object[entry.key] = json_of(entry);
  return object;
}

/// True if a value of a file is that of an entry; its objects may have more entries.
bool agrees(const Json& found, const ConfigEntry& own) {
  const auto* entries = std::get_if<std::vector<ConfigEntry>>(&own.value);
  if (!entries || !found.is_object()) return found == json_of(own);
  return std::ranges::all_of(*entries, [&](const ConfigEntry& entry) {
    const auto at = found.find(entry.key);
    if (at == found.end() || (entry.usual && at->is_null())) return entry.usual;
    return agrees(*at, entry);
  });
}

bool says(const Json& file, const ConfigEntry& entry) {
  return file.contains(entry.key) && agrees(file[entry.key], entry);
}

/// Returns a line for each of these entries that a file lacks.
std::string missing_in(const Json& file, std::span<const ConfigEntry> entries) {
  std::string lines;
  for (const ConfigEntry& entry : entries)
    if (!says(file, entry))
      lines += fmt::format(
          "\n  {}: {} in the file, {} in this recipe", entry.key,
          file.contains(entry.key) ? printable(file[entry.key].dump()) : std::string("nothing"),
          json_of(entry).dump());
  return lines;
}

}  // namespace

Json config_json(const HuggingFace& architecture) { return object_of(architecture.config); }

void require_same_architecture(const std::filesystem::path& path, const HuggingFace& architecture) {
  Json found;
  try {
    found = parse_json(read_file(path, 1 << 20));
  } catch (const JsonError& e) {
    throw FileError("Cannot read " + path.string() + ": it is not JSON (" + e.what() +
                    "). Take the weights from a complete folder.");
  }
  std::string differences;
  for (const ConfigEntry& entry : architecture.config) {
    if (!entry.decisive || !found.contains(entry.key)) continue;
    const auto other = std::ranges::find_if(
        entry.instead, [&](const auto& entries) { return says(found, entries.front()); });
    differences +=
        missing_in(found, other == entry.instead.end() ? std::span(&entry, 1) : std::span(*other));
  }
  if (!differences.empty())
    throw FileError("Cannot take weights of " + path.string() + ": it describes another model." +
                    differences + "\nUse a recipe with the file's numbers.");
}

}  // namespace sinter::detail
