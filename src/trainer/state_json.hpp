// What a checkpoint says in JSON of the trainer that made it.
#pragma once
#include <filesystem>
#include <nlohmann/json_fwd.hpp>

#include "sinter/trainer/recipe_view.hpp"

namespace sinter {

/// {recipe, step, seed (as text: JSON has no 64-bit numbers), policies, options, state}.
nlohmann::ordered_json state_json(const RecipeView& recipe, std::int64_t step, std::uint64_t seed);

struct SavedState {
  std::int64_t step;
  std::uint64_t seed;
  std::vector<std::string> policies;
  std::vector<std::pair<std::string, std::string>> options, state;  // dotted name, value as JSON
};

/// Reads the object under "trainer" in a manifest's JSON. throws FileError that names the
/// checkpoint.
SavedState read_state(const std::string& info, const std::string& checkpoint);

/// throws FileError, listing all differences, unless the policies of decisive slots (slots.hpp:
/// model, data, precision, optimizer and, where they do not say otherwise, slots of one's own), with
/// their fixed options, are what they were. All else may differ: it does not change what the saved
/// numbers mean.
void require_same_recipe(const SavedState& saved, const RecipeView& recipe,
                         const std::string& checkpoint);

/// Gives the run state of a recipe's policies what was saved of it. What was not (a schedule may be
/// another one now) stays as it is.
void restore_state(const SavedState& saved, RecipeView& recipe);

/// Hugging Face's config.json.
nlohmann::ordered_json config_json(const HuggingFace& architecture);

/// throws FileError, listing all differences, where a config.json is of another model.
void require_same_architecture(const std::filesystem::path& config,
                               const HuggingFace& architecture);

/// An option's value: a number, true or false, or a word.
nlohmann::ordered_json option_value(const Option& option);
/// Sets a number or a switch; a word stays as it is.
/// throws  nlohmann::json::exception where the value is of another kind
void set_option_value(const Option& option, const nlohmann::ordered_json& value);

}  // namespace sinter
