// SPDX-License-Identifier: Apache-2.0
#include "cli/resume.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "files/json.hpp"
#include "trainer/state_json.hpp"

namespace sinter::detail::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string take_options(const SavedState& saved, RecipeView& recipe, const Arguments& arguments) {
  std::string notes;
  for (const Option& option : recipe.options) {
    const auto& given = arguments.options;
    bool is_given = std::find(given.begin(), given.end(), option.dotted()) != given.end();
    auto found = std::find_if(saved.options.begin(), saved.options.end(),
                              [&](const auto& entry) { return entry.first == option.dotted(); });
    if (!option.adjustable || found == saved.options.end()) continue;
    std::string before = text_of(option);
    if (option_value(option).dump() == found->second) continue;
    if (is_given) {
      notes += fmt::format("{} is {}, as given; it was {}.\n", option.dotted(), before,
                           printable(found->second));
      continue;
    }
    set_option_value(option, Json::parse(found->second));
    notes += fmt::format("{} is {}, as before; the recipe says {}.\n", option.dotted(),
                         text_of(option), before);
  }
  return notes;
}

FileError not_as_written(const CheckpointReader& checkpoint, const char* why) {
  return FileError(fmt::format("Cannot resume from {}: its manifest is not as it was written ({}).",
                               checkpoint.folder().string(), why));
}

}  // namespace

std::string take_over(const CheckpointReader& checkpoint, RecipeView& recipe,
                      Arguments& arguments) try {
  SavedState saved = read_state(checkpoint.info(), checkpoint.folder().string());
  require_same_recipe(saved, recipe, checkpoint.folder().string());
  if (arguments.seed && *arguments.seed != saved.seed)
    throw UsageError(
        fmt::format("--seed {} does not fit --resume: the run has the seed {}. Leave "
                    "--seed out, or start a new run in another folder.",
                    *arguments.seed, saved.seed));
  arguments.seed = saved.seed;
  Json info = Json::parse(checkpoint.info());
  if (!arguments.order && info.contains("sampler"))
    arguments.order = info["sampler"].value("order", "").starts_with("sequential")
                          ? Order::sequential
                          : Order::shuffled;
  std::string notes = take_options(saved, recipe, arguments);
  recipe.run_steps = saved.run_steps;
  check_options(recipe);
  return notes;
} catch (const ArgumentError& error) {
  throw ArgumentError(fmt::format("With the options of {}, as far as no flag gives others: {}",
                                  checkpoint.folder().string(), error.what()));
} catch (const JsonError& error) {
  throw not_as_written(checkpoint, error.what());
} catch (const Json::exception& error) {
  throw not_as_written(checkpoint, error.what());
}

}  // namespace sinter::detail::cli
