// SPDX-License-Identifier: Apache-2.0
#include "cli/end_of_text.hpp"

#include <filesystem>

#include "cli/tokenizer.hpp"
#include "hugging_face/generation_config.hpp"
#include "hugging_face/special_tokens.hpp"

namespace sinter::detail::cli {
namespace {

using hugging_face::Origin;

/// The ends of a text by what came with weights and tokenizer.
std::vector<std::int32_t> ends_of(const Origin& origin) {
  for (const Origin::Json* json : {&origin.generation, &origin.config})
    if (auto ids = hugging_face::read_ends(*json); !ids.empty()) return ids;
  for (const hugging_face::TokenInUse& token : tokens_in_use(origin))
    if (token.use == "eos" && token.id) return {std::int32_t(*token.id)};
  return {};
}

}  // namespace

void set_ends(Prompt& prompt, const RecipeView& recipe, Arguments a, Origin origin) {
  if (a.ignore_eos) {
    prompt.end = -1;
    prompt.more_ends.clear();
    return;
  }
  if (!recipe.data.takes_tokenizer) return;
  if (prompt.end >= 0) {
    prompt.more_ends = hugging_face::read_ends(origin.generation);
    return;
  }
  (void)take_over_tokenizer(recipe, a);
  std::error_code none;
  if (a.tokenizer && std::filesystem::exists(*a.tokenizer, none))
    hugging_face::set_tokenizer(origin, *a.tokenizer);
  prompt.more_ends = ends_of(origin);
}

}  // namespace sinter::detail::cli
