// SPDX-License-Identifier: Apache-2.0
#include "cli/predictor.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/arguments.hpp"
#include "trainer/state_json.hpp"

namespace sinter::detail::cli {

void refuse_int8(const RecipeView& recipe, const char* more) {
  throw UsageError(fmt::format(
      "--quantize int8 needs a recipe that plans it, and {} does not. Add Quantize<> to the recipe "
      "and build it{}.",
      recipe.name, more));
}

std::shared_ptr<RecipeView> predictor_of(std::shared_ptr<RecipeView> recipe,
                                         std::optional<bool> quantizes) {
  if (quantizes == true && !recipe->quantized) refuse_int8(*recipe);
  if (quantizes == false || !recipe->quantized) return recipe;
  std::shared_ptr<RecipeView> view = recipe->quantized();
  for (std::size_t k = 0; k < recipe->options.size(); ++k)
    if (recipe->options[k].adjustable)
      set_option_value(view->options[k], option_value(recipe->options[k]));
  view->skips_generation = recipe->skips_generation;
  return view;
}

}  // namespace sinter::detail::cli
