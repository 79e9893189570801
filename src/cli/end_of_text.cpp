// SPDX-License-Identifier: Apache-2.0
#include "cli/end_of_text.hpp"

#include <algorithm>
#include <filesystem>
#include <limits>

#include "cli/origin.hpp"
#include "cli/tokenizer.hpp"
#include "hugging_face/special_tokens.hpp"

namespace sinter::detail::cli {
namespace {

using hugging_face::Origin;
using Ids = std::vector<std::int32_t>;

/// The ids under "eos_token_id": a number or a list of numbers; none if there is neither.
Ids stated_ends(const Origin::Json& json) {
  if (!json.is_object() || !json.contains("eos_token_id")) return {};
  const Origin::Json& stated = json["eos_token_id"];
  Ids ids;
  for (const Origin::Json& id : stated.is_array() ? stated : Origin::Json::array({stated}))
    if (id.is_number_unsigned() && id <= std::numeric_limits<std::int32_t>::max())
      ids.push_back(id.get<std::int32_t>());
  return ids;
}

/// The ends of a text by what came with weights and tokenizer.
Ids ends_of(const Origin& origin) {
  for (const Origin::Json* json : {&origin.generation, &origin.config})
    if (Ids ids = stated_ends(*json); !ids.empty()) return ids;
  for (const hugging_face::TokenInUse& token : tokens_in_use(origin))
    if (token.use == "eos" && token.id) return {std::int32_t(*token.id)};
  return {};
}

}  // namespace

void set_ends(Prompt& prompt, const RecipeView& recipe, Arguments a) {
  if (a.ignore_eos) {
    prompt.end = -1;
    prompt.more_ends.clear();
    return;
  }
  if (!recipe.data.takes_tokenizer || !a.weights) return;
  Origin origin = origin_of(*a.weights);
  if (prompt.end >= 0) {
    prompt.more_ends = stated_ends(origin.generation);
    return;
  }
  (void)take_over_tokenizer(recipe, a);
  std::error_code none;
  if (a.tokenizer && std::filesystem::exists(*a.tokenizer, none))
    hugging_face::set_tokenizer(origin, *a.tokenizer);
  prompt.more_ends = ends_of(origin);
}

}  // namespace sinter::detail::cli
