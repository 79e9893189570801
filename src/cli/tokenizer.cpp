// SPDX-License-Identifier: Apache-2.0
#include "cli/tokenizer.hpp"

#include "cli/run_record.hpp"
#include "cli/verbs.hpp"
#include "sinter/data/tokenizer/bounded.hpp"
#include "sinter/files/weights.hpp"

namespace sinter::detail::cli {

void take_over_tokenizer(const RecipeView& recipe, Arguments& a) {
  if (a.tokenizer || !recipe.data.takes_tokenizer || !a.weights) return;
  const WeightsSource source = resolve_weights(*a.weights);
  if (source.kind == WeightsSource::Kind::checkpoint)
    a.tokenizer = RunRecord(source.path.parent_path()).tokenizer();
}

Tokenizer tokenizer_for(const RecipeView& recipe, Arguments a) {
  take_over_tokenizer(recipe, a);
  if (!a.tokenizer && recipe.data.has_tokenizer) return recipe.tokenizer();
  require_flag(a.tokenizer.has_value(), "--tokenizer PATH", a.verb);
  return load_tokenizer(*a.tokenizer);
}

Tokenizer tokenizer_of_model(const RecipeView& recipe, Arguments a) {
  const int vocabulary = recipe.plan->vocabulary;
  Tokenizer tokenizer = tokenizer_for(recipe, std::move(a));
  return vocabulary > 0 ? bounded_tokenizer(std::move(tokenizer), vocabulary) : tokenizer;
}

}  // namespace sinter::detail::cli
