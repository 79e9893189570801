// SPDX-License-Identifier: Apache-2.0
#include "cli/end_of_text.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "cli/tokenizer.hpp"
#include "hugging_face/generation_config.hpp"
#include "hugging_face/special_tokens.hpp"
#include "sinter/data/unit.hpp"

namespace sinter::detail::cli {
namespace {

using hugging_face::Origin;
constexpr std::string_view generation_file = "generation_config.json";

/// The ends of a text, and what names them.
struct Ends {
  std::vector<std::int32_t> ids{};
  std::string_view from{};
};

/// The ends of a text by what came with weights and tokenizer.
Ends ends_of(const Origin& origin) {
  for (const auto& [json, name] : {std::pair(&origin.generation, generation_file),
                                   std::pair(&origin.config, std::string_view("config.json"))})
    if (auto ids = hugging_face::read_ends(*json); !ids.empty()) return {std::move(ids), name};
  for (const hugging_face::TokenInUse& token : tokens_in_use(origin))
    if (token.use == "eos" && token.id) return {{std::int32_t(*token.id)}, "the tokenizer"};
  return {};
}

std::string without_effect(std::int32_t id, std::string_view from, std::string_view why) {
  return fmt::format("eos_token_id {} of {} has no effect: {}.", id, from, why);
}

/// Drops the ends that are no tokens of the model, and returns a note for each.
std::vector<std::string> drop_unknown(Ends& ends, int vocabulary) {
  std::vector<std::string> notes;
  std::erase_if(ends.ids, [&](std::int32_t id) {
    const bool unknown = id < 0 || (vocabulary > 0 && id >= vocabulary);
    if (unknown)
      notes.push_back(without_effect(
          id, ends.from,
          fmt::format("the model's tokens are those from 0 to {}", thousands(vocabulary - 1))));
    return unknown;
  });
  return notes;
}

}  // namespace

EndsSaid set_ends(Prompt& prompt, const RecipeView& recipe, Arguments a, Origin origin) {
  if (a.ignore_eos) {
    prompt.end = -1;
    prompt.more_ends.clear();
    return {{{"ignore_eos", true, "flag"}}, {}};
  }
  Ends ends;
  if (!recipe.data.takes_tokenizer || prompt.end >= 0) {
    ends = {hugging_face::read_ends(origin.generation), generation_file};
  } else {
    (void)take_over_tokenizer(recipe, a);
    std::error_code none;
    if (a.tokenizer && std::filesystem::exists(*a.tokenizer, none))
      hugging_face::set_tokenizer(origin, *a.tokenizer);
    ends = ends_of(origin);
  }
  EndsSaid said;
  std::vector<std::string>& notes = said.notes;
  if (recipe.data.takes_tokenizer) {
    notes = drop_unknown(ends, recipe.plan->vocabulary);
    if (!ends.ids.empty())
      said.settings.push_back({"eos_token_id", ends.ids, std::string(ends.from)});
    prompt.more_ends = std::move(ends.ids);
  } else {
    for (const std::int32_t id : ends.ids)
      notes.push_back(without_effect(
          id, ends.from,
          fmt::format("the data of the recipe {} have tokens of their own, and no tokenizer that "
                      "could be named",
                      recipe.name)));
  }
  return said;
}

}  // namespace sinter::detail::cli
