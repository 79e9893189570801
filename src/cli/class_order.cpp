// SPDX-License-Identifier: Apache-2.0
#include "cli/class_order.hpp"

#include <fmt/ranges.h>

#include "cli/weights_fit.hpp"
#include "data/class_names.hpp"
#include "hugging_face/class_names.hpp"
#include "hugging_face/origin.hpp"
#include "sinter/error.hpp"
#include "sinter/files/io.hpp"
#include "sinter/files/weights.hpp"

namespace sinter::detail::cli {
namespace {

std::string list_of(const std::vector<std::string>& names) {
  return printable(fmt::format("{}", fmt::join(names, ", ")), 400);
}

}  // namespace

void require_class_order(const RecipeView& recipe, const std::string& weights) {
  const std::vector<std::string> names = names_in(recipe.data.class_names);
  if (names.empty()) return;
  const WeightsSource source = resolve_weights(weights);
  if (source.kind != WeightsSource::Kind::hugging_face) return;
  const std::vector<std::string> others =
      hugging_face::class_names_of(hugging_face::origin_of_weights(source.path).config);
  if (!hugging_face::are_reordered(names, others)) return;
  if (!require_fit(weights, recipe).unshared.fresh.empty())
    return;  // its classes are not learnt yet
  throw FileError(fmt::format(
      "The weights in {} have the recipe's classes in another order, so that each would be taken "
      "for another one. The recipe's are \"{}\", and config.json there has \"{}\" (id2label). List "
      "the recipe's names in that order; or, if config.json is wrong, correct it.",
      printable(source.path.string(), 4096), list_of(names), list_of(others)));
}

}  // namespace sinter::detail::cli
