// SPDX-License-Identifier: Apache-2.0
#include "cli/tokenizer.hpp"

#include "cli/run_record.hpp"
#include "cli/verbs.hpp"
#include "data/tokenizer/bounded.hpp"
#include "sinter/files/weights.hpp"

namespace sinter::detail::cli {

void take_over_tokenizer(const RecipeView& recipe, Arguments& a) {
  if (!recipe.data.takes_tokenizer || !a.weights) return;
  const WeightsSource source = resolve_weights(*a.weights);
  if (source.kind != WeightsSource::Kind::checkpoint) return;
  const RunRecord record(source.path.parent_path());
  if (!a.tokenizer) a.tokenizer = record.tokenizer();
  record.take_over_special_tokens(a);
}

Tokenizer tokenizer_for(const RecipeView& recipe, Arguments a) {
  take_over_tokenizer(recipe, a);
  if (!a.tokenizer && recipe.data.has_tokenizer) return recipe.tokenizer();
  require_flag(a.tokenizer.has_value(), "--tokenizer PATH", a.verb);
  Tokenizer tokenizer = load_tokenizer(*a.tokenizer);
  if (!a.special_tokens.value_or(true)) tokenizer.before.clear(), tokenizer.behind.clear();
  return tokenizer;
}

Tokenizer tokenizer_of_model(const RecipeView& recipe, Arguments a) {
  const int vocabulary = recipe.plan->vocabulary;
  Tokenizer tokenizer = tokenizer_for(recipe, std::move(a));
  return vocabulary > 0 ? bounded_tokenizer(std::move(tokenizer), vocabulary) : tokenizer;
}

}  // namespace sinter::detail::cli
