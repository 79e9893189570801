// SPDX-License-Identifier: Apache-2.0
#include "cli/class_order.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/run_record.hpp"
#include "cli/weights_fit.hpp"
#include "data/class_names.hpp"
#include "hugging_face/class_names.hpp"
#include "hugging_face/origin.hpp"
#include "sinter/error.hpp"
#include "sinter/files/io.hpp"
#include "sinter/files/weights.hpp"
#include "trainer/state_json.hpp"

namespace sinter::detail::cli {
namespace {

using Json = nlohmann::ordered_json;

/// What the head of weights has learnt, as far as anything beside them says it.
struct Learnt {
  std::vector<std::string> names{};  // of the classes, in their order; or none
  std::string said{};                // the names and the file that has them, for errors
  Json problem_type{};               // null if config.json does not say it
};

std::string list_of(const std::vector<std::string>& names) {
  return printable(fmt::format("{}", fmt::join(names, ", ")), 400);
}

Learnt learnt_by(const WeightsSource& source) {
  Learnt found;
  if (!source.config.empty()) {
    const Json config = hugging_face::origin_of_weights(source.config.parent_path()).config;
    found.names = hugging_face::class_names_of(config);
    found.said = fmt::format("config.json there has \"{}\" (id2label)", list_of(found.names));
    found.problem_type = config.value("problem_type", Json());
  }
  if (source.kind == WeightsSource::Kind::checkpoint) {
    found.names = RunRecord(source.path.parent_path()).class_names();
    found.said = fmt::format("its run has learnt \"{}\" (run.json)", list_of(found.names));
  }
  return found;
}

/// What the recipe's head learns, in the words of config.json; null if that does not say it.
Json problem_type_of(const RecipeView& recipe) {
  return config_json(recipe.hugging_face).value("problem_type", Json());
}

/// What is wrong with the names; empty if nothing is.
std::string difference(const std::vector<std::string>& names, const Learnt& learnt) {
  using hugging_face::Agreement;
  const Agreement agreement = hugging_face::agreement_of(names, learnt.names);
  if (agreement == Agreement::none || agreement == Agreement::same) return "";
  const bool reordered = agreement == Agreement::reordered;
  return fmt::format(
      "have {}, so that {} would be taken for another one. The recipe's are \"{}\", and {}. {}",
      reordered ? "the recipe's classes in another order"
                : "some of the recipe's classes, but not all",
      reordered ? "each" : "some", list_of(names), learnt.said,
      reordered ? "List the recipe's names in that order; or, if that is wrong, correct it."
                : "List the names that the weights have; or train them on the recipe's.");
}

/// What is wrong with the kind of labels; empty if nothing is.
std::string difference(const Json& own, const Json& other) {
  if (!own.is_string() || !other.is_string() || own == other) return "";
  return fmt::format(
      "are of another kind of labels: problem_type is {} in their config.json, and {} in this "
      "recipe, so that what they give means something else. Change .label_kind of the recipe's "
      "model and data; or train the weights on the recipe's labels.",
      printable(other.get<std::string>(), 60), own.get<std::string>());
}

}  // namespace

std::string require_same_classes(const RecipeView& recipe, const Arguments& a) {
  const std::vector<std::string> names = names_in(recipe.data.class_names);
  const Json own = problem_type_of(recipe);
  if (names.empty() && own.is_null()) return "";
  const WeightsSource source = resolve_weights(*a.weights);
  const Learnt learnt = learnt_by(source);
  const std::string of_names = difference(names, learnt),
                    of_kind = difference(own, learnt.problem_type);
  if (of_names.empty() && of_kind.empty()) return "";
  if (!require_fit(*a.weights, recipe).unshared.fresh.empty())
    return "";  // its classes are not learnt yet
  const std::string text =
      fmt::format("The weights in {} {}", printable(source.path.string(), 4096),
                  of_kind.empty() ? of_names : of_kind);
  const bool learns = a.verb == Verb::train || a.verb == Verb::describe;
  const bool reordered = hugging_face::are_reordered(names, learnt.names);
  if (!learns || (of_kind.empty() && reordered)) throw FileError(text);
  return text + "\n";
}

}  // namespace sinter::detail::cli
