// SPDX-License-Identifier: Apache-2.0
#include "cli/tokenizer.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "cli/origin.hpp"
#include "cli/run_record.hpp"
#include "cli/verbs.hpp"
#include "data/tokenizer/bounded.hpp"
#include "sinter/data/example_marks.hpp"
#include "sinter/files/io.hpp"
#include "sinter/files/weights.hpp"

namespace sinter::detail::cli {
namespace {

/// True if the recipe's data read text where no tokenizer is named. Those of examples have the
/// tokenizer of bytes whatever their vocabulary is.
bool has_own_tokenizer(const RecipeView& recipe) {
  return recipe.data.has_tokenizer && (recipe.plan->vocabulary == byte_example_vocabulary ||
                                       recipe.tokenizer().identity != byte_tokenizer().identity);
}

bool is_there(const std::optional<std::string>& path) {
  std::error_code none;
  return path && std::filesystem::exists(*path, none);
}

}  // namespace

std::string take_over_tokenizer(const RecipeView& recipe, Arguments& a) {
  if (!recipe.data.takes_tokenizer || !a.weights) return "";
  const WeightsSource source = resolve_weights(*a.weights);
  std::optional<std::string> of_run;
  if (source.kind == WeightsSource::Kind::checkpoint) {
    const RunRecord record(source.path.parent_path());
    of_run = record.tokenizer();
    record.take_over_special_tokens(a);
  }
  if (a.tokenizer || (!of_run && has_own_tokenizer(recipe))) return "";
  a.tokenizer = of_run;  // an error names it if neither it nor a copy is there
  if (!is_there(of_run))
    if (const hugging_face::Origin origin = origin_of(*a.weights); !origin.tokenizer.empty())
      a.tokenizer = origin.tokenizer_path.string();
  if (!a.tokenizer) return "";
  return fmt::format("the tokenizer is {}, {}.\n", printable(*a.tokenizer, 4096),
                     a.tokenizer == of_run ? "by which the run read its text"
                     : of_run              ? "a copy of what the run read its text by"
                                           : "which came with the weights");
}

Tokenizer tokenizer_for(const RecipeView& recipe, Arguments a) {
  (void)take_over_tokenizer(recipe, a);  // who must say it has done it before
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
