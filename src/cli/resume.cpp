// SPDX-License-Identifier: Apache-2.0
#include "cli/resume.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "files/json.hpp"
#include "files/manifest.hpp"
#include "sinter/files/weights.hpp"
#include "trainer/state_json.hpp"

namespace sinter::detail::cli {
namespace {

using Json = nlohmann::ordered_json;

/// Calls visit(option, the run's value as JSON, whether the command line gives it) for each option that may
/// be adjusted, and that a run had otherwise.
void each_other_option(const SavedState& saved, const RecipeView& recipe,
                       const Arguments& arguments, const auto& visit) {
  for (const Option& option : recipe.options) {
    const auto then = std::ranges::find(saved.options, option.dotted(),
                                        [](const auto& entry) { return entry.first; });
    if (!option.adjustable || then == saved.options.end() ||
        option_value(option).dump() == then->second)
      continue;
    const auto& given = arguments.options;
    visit(option, then->second, std::ranges::find(given, option.dotted()) != given.end());
  }
}

std::string take_options(const SavedState& saved, const RecipeView& recipe,
                         const Arguments& arguments) {
  std::string notes;
  each_other_option(saved, recipe, arguments,
                    [&](const Option& option, const std::string& then, bool is_given) {
                      const std::string now = text_of(option);
                      if (is_given) {
                        notes += fmt::format("{} is {}, as given; it was {}.\n", option.dotted(),
                                             now, printable(then));
                        return;
                      }
                      set_option_value(option, Json::parse(then));
                      notes += fmt::format("{} is {}, as before; the recipe says {}.\n",
                                           option.dotted(), text_of(option), now);
                    });
  return notes;
}

/// What the trainer of a run's weights was, if a manifest says it. Loading the weights reports those
/// that are missing or damaged.
std::optional<SavedState> state_of(const std::string& weights) {
  try {
    const WeightsSource source = resolve_weights(weights);
    if (source.kind != WeightsSource::Kind::checkpoint) return std::nullopt;
    return read_state(read_manifest(source.path, Links::followed).info, source.path.string());
  } catch (const FileError&) {
    return std::nullopt;
  }
}

/// True if a run's policy of a slot is the recipe's, too.
bool is_shared(std::string_view slot, const SavedState& saved, const RecipeView& recipe) {
  const auto of_slot = [&](const std::string& policy) {
    return std::string_view(policy).substr(0, policy.find(':')) == slot;
  };
  const auto then = std::ranges::find_if(saved.policies, of_slot),
             now = std::ranges::find_if(recipe.policies, of_slot);
  return then != saved.policies.end() && now != recipe.policies.end() && *then == *now;
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

std::string take_over_options_of_run(RecipeView& recipe, const Arguments& arguments) {
  const std::optional<SavedState> saved = state_of(*arguments.weights);
  if (!saved) return "";
  std::string taken, kept;
  const auto take = [&](const Option& option, const std::string& then, bool is_given) {
    if (!takes_options_of(arguments.verb, option.slot) || !is_shared(option.slot, *saved, recipe))
      return;
    const std::string now = text_of(option);
    if (is_given) {
      kept += fmt::format("{}{} is {} (the run had {})", kept.empty() ? "" : ", ", option.dotted(),
                          now, printable(then));
      return;
    }
    try {
      set_option_value(option, Json::parse(then));
    } catch (const std::exception& error) {
      throw FileError(fmt::format(
          "{}: its manifest says that {} is {}, which is no value of it ({}). Give --{} another.",
          *arguments.weights, option.dotted(), printable(then), error.what(), option.dotted()));
    }
    taken += fmt::format("{}{} is {} (the recipe says {})", taken.empty() ? "" : ", ",
                         option.dotted(), text_of(option), now);
  };
  each_other_option(*saved, recipe, arguments, take);
  check_options(recipe);
  return (taken.empty() ? "" : taken + ", as in the run.\n") +
         (kept.empty() ? "" : kept + ", as given.\n");
}

}  // namespace sinter::detail::cli
