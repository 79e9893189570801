// SPDX-License-Identifier: Apache-2.0
#include "cli/launched.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>

#include "cli/flags.hpp"
#include "sinter/comm/launched_world.hpp"
#include "sinter/files/io.hpp"

namespace sinter::detail::cli {
namespace {

constexpr std::string_view ranks_option = "parallel.ranks", card_option = "device.card";

void require_verb_of_ranks(Verb verb, const std::string& started) {
  if (row_of(verb).has_ranks) return;
  throw UsageError(fmt::format(
      "{}, and {} is the work of one process: only {} have ranks. Run it without the launcher.",
      started, name_of(verb), verbs_with([](Verb v) { return row_of(v).has_ranks; })));
}

void require_recipe_of_ranks(const RecipeView& recipe, const std::string& started) {
  if (recipe.joins_worlds) return;
  throw UsageError(
      fmt::format("{}, and the recipe {} has no ranks that are processes: Ddp has. Run it without "
                  "the launcher, or give the recipe Ddp<>.",
                  started, recipe.name));
}

/// True if an option was typed. A launcher decides against what a file of --config says.
bool is_typed(const Arguments& a, std::string_view option) {
  const std::string flag = "--" + std::string(option);
  return a.given.contains(flag) && !a.from_config.contains(flag);
}

void require_flags_of_ranks(const Arguments& a, const std::string& started) {
  if (is_typed(a, card_option))
    throw UsageError(
        fmt::format("{}, each of which takes the card of its number on its host. Leave --{} out; "
                    "CUDA_VISIBLE_DEVICES says which cards there are.",
                    started, card_option));
  if (is_typed(a, ranks_option))
    throw UsageError(
        fmt::format("{}, which is the number of ranks. Leave --{} out.", started, ranks_option));
  if (a.verb == Verb::train && !a.out)
    throw UsageError(
        fmt::format("{}, and all must know the run's folder. Give --out DIR.", started));
}

/// Sets the number of ranks as the launcher gives it. As with a flag, a checkpoint does not change
/// it.
void set_ranks(RecipeView& recipe, Arguments& a, const std::string& started) {
  const auto option = std::ranges::find(recipe.options, ranks_option, &Option::dotted);
  if (option == recipe.options.end()) return;
  int& ranks = *std::get<int*>(option->value);
  if (!option->adjustable && ranks != a.world.ranks)
    throw UsageError(fmt::format("{}, and the recipe {} is one of {}. Start as many.", started,
                                 recipe.name, ranks));
  ranks = a.world.ranks;
  a.options.emplace_back(ranks_option);
}

/// True if the launcher lets this process see only one card.
bool sees_one_card() {
  const char* const cards = std::getenv("CUDA_VISIBLE_DEVICES");
  return cards && *cards && !std::strchr(cards, ',');
}

/// Chooses this rank's card: the ranks of a host use consecutive cards from the recipe's on.
void choose_card(RecipeView& recipe, const World& world) {
  const auto option = std::ranges::find(recipe.options, card_option, &Option::dotted);
  if (option == recipe.options.end() || sees_one_card()) return;
  *std::get<int*>(option->value) += world.ranks_here ? world.rank_here : world.rank;
}

}  // namespace

void take_launched_world(RecipeView& recipe, Arguments& a) {
  const std::optional<LaunchedWorld> launched = launched_world();
  if (!launched) {
    if (!a.rank_timeout) return;
    throw UsageError(
        "--rank-timeout is for ranks that a launcher has started, and none has started several of "
        "this program. Leave it out.");
  }
  const std::string started =
      fmt::format("{} has started {} ranks", launched->launcher, launched->world.ranks);
  require_verb_of_ranks(a.verb, started);
  require_recipe_of_ranks(recipe, started);
  require_flags_of_ranks(a, started);
  a.world = launched->world;
  if (a.rank_timeout)
    a.world.timeout = std::chrono::milliseconds(std::int64_t(1000 * *a.rank_timeout));
  a.quiet |= !is_first(a);
  set_ranks(recipe, a, started);
  choose_card(recipe, a.world);
}

World world_with_facts(const Arguments& a, const SamplerState& data, std::vector<Fact> facts) {
  World world = a.world;
  if (world.ranks == 1) return world;  // there is no other rank
  world.facts = std::move(facts);
  world.facts.push_back({"binary", hash_of_file("/proc/self/exe")});
  world.facts.push_back({"data", nlohmann::json(data.to_fields()).dump()});
  world.facts.push_back({"--weights", a.weights.value_or("none")});
  world.facts.push_back({"--skip-generation", a.skip_generation ? "given" : "not given"});
  if (a.adapter) world.facts.push_back({"--adapter", *a.adapter});
  return world;
}

}  // namespace sinter::detail::cli
