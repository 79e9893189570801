// SPDX-License-Identifier: Apache-2.0
// A trainer in the JSON of a checkpoint.
#pragma once
#include <filesystem>
#include <nlohmann/json_fwd.hpp>

#include "sinter/trainer/recipe_view.hpp"

namespace sinter::detail {

/// Returns the object under "trainer" in a manifest: recipe, step, seed (as text, as JSON has no
/// 64-bit numbers), steps of the whole run if known, policies, those of their slots that are not decisive, options, state.
nlohmann::ordered_json state_json(const RecipeView& recipe, std::int64_t step, std::uint64_t seed);

struct SavedState {
  std::int64_t step;
  std::uint64_t seed;
  std::int64_t run_steps = 0;  // 0 in checkpoints of older versions
  std::string recipe;          // its name; older versions may not have written it
  std::vector<std::string> policies, free_slots;
  std::vector<std::pair<std::string, std::string>> options, state;  // dotted name, value as JSON
};

/// Reads the object under "trainer" in a manifest's JSON.
/// throws    FileError, naming the checkpoint, if it is missing or not complete
SavedState read_state(const std::string& info, const std::string& checkpoint);

/// Checks that the policies of decisive slots (slots.hpp), with their fixed options, are those of a
/// checkpoint. Decisive slots are model, data, precision, optimizer and, unless a recipe says
/// otherwise, the user's own. Policies in other slots may differ, as they do not change what the
/// saved numbers mean.
/// throws    FileError that lists all differences
void require_same_recipe(const SavedState& saved, const RecipeView& recipe,
                         const std::string& checkpoint);

/// Checks the types of the saved run state.
/// throws    FileError, naming the checkpoint, if a policy's saved run state has a value of another
///           type
void require_readable_state(const SavedState& saved, const RecipeView& recipe,
                            const std::string& checkpoint);

/// Restores the saved run state of a recipe's policies. State that was not saved stays as it is, as
/// a schedule may have been replaced.
/// requires  the state is readable
void restore_state(const SavedState& saved, RecipeView& recipe);

/// Restores the number of steps of the saved run, unless `told` states another, above 0. A checkpoint
/// of an older version has none: the option that is now the run's length was a number then, which this
/// sets.
void restore_length(const SavedState& saved, std::int64_t told, RecipeView& recipe);

/// Returns Hugging Face's config.json.
nlohmann::ordered_json config_json(const HuggingFace& architecture);

/// Checks that a config.json is of this architecture.
/// throws    FileError that lists all differences, or reports that the file cannot be read
void require_same_architecture(const std::filesystem::path& config,
                               const HuggingFace& architecture);

/// Returns an option's value: a number, true or false, or a word.
nlohmann::ordered_json option_value(const Option& option);
/// Sets a number or a switch; a word stays as it is.
/// throws    nlohmann::json::exception or JsonError if the value is of another kind, or the option
///           cannot hold it
void set_option_value(const Option& option, const nlohmann::ordered_json& value);

}  // namespace sinter::detail
