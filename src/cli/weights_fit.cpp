// SPDX-License-Identifier: Apache-2.0
#include "cli/weights_fit.hpp"

#include <algorithm>
#include <initializer_list>
#include <optional>

#include "sinter/files/load.hpp"
#include "sinter/files/weights.hpp"
#include "sinter/plan/parameter.hpp"
#include "trainer/load_rules.hpp"
#include "trainer/merge_adapters.hpp"
#include "trainer/state_json.hpp"

namespace sinter::detail::cli {
namespace {

/// The texts that are not empty, a line each.
std::string joined_lines(std::initializer_list<std::string> texts) {
  std::string lines;
  for (const std::string& text : texts)
    if (!text.empty()) lines += (lines.empty() ? "" : "\n") + text;
  return lines;
}

}  // namespace

WeightsFit require_fit(const std::string& weights, const RecipeView& recipe) {
  const WeightsSource source = resolve_weights(weights);
  const HuggingFace& names = recipe.hugging_face;
  if (!source.config.empty()) require_same_architecture(source.config, names);
  std::vector<Expected> expected;
  const std::vector<Parameter> parameters = list_parameters(recipe.plan->model);
  for (const Parameter& p : parameters)  // master weights are floating point
    expected.push_back({p.name, p.shape, nullptr, Dtype::f32});
  if (!hold_adapters(source.files)) drop_adapters(expected, parameters);
  UnsharedHeads unshared =
      check_tensors(source.files, expected, load_rules(names, MissingHead::starts_fresh));
  return {std::int64_t(expected.size() - unshared.fresh.size()), std::int64_t(source.files.size()),
          source.taken, source.warning, std::move(unshared)};
}

namespace {

/// Loads weights whose missing heads the adapter brings. Returns lines for the user; none if there
/// is another head missing, or none.
std::optional<std::string> load_without_heads(TrainerCore& trainer, const Arguments& a) {
  const WeightsFit fit = require_fit(*a.weights, trainer.recipe());
  const auto is_brought = [&](const std::string& name) {
    return std::ranges::any_of(trainer.parameters(), [&](const Parameter& p) {
      return p.name == name && !p.frozen;  // load_adapter() requires all that are trained
    });
  };
  if (fit.unshared.fresh.empty() || !std::ranges::all_of(fit.unshared.fresh, is_brought))
    return std::nullopt;
  (void)trainer.load_weights(*a.weights, a.average ? "ema" : "", MissingHead::starts_fresh);
  return joined_lines({fit.taken, fit.warning, to_string({{}, fit.unshared.left_out})});
}

}  // namespace

std::string load_weights_of(TrainerCore& trainer, const Arguments& a) {
  const auto load = [&] { return trainer.load_weights(*a.weights, a.average ? "ema" : ""); };
  if (a.adapter) {
    const std::optional<std::string> said = load_without_heads(trainer, a);
    const std::string lines = said ? *said : load();
    return joined_lines({lines, trainer.load_adapter(*a.adapter)});
  }
  std::string lines = load();
  if (!trainer.recipe().lora || hold_adapters(resolve_weights(*a.weights).files)) return lines;
  return joined_lines({lines,
                       "the weights have no adapters: those of the recipe start fresh, and change "
                       "nothing; --adapter FOLDER takes trained ones"});
}

}  // namespace sinter::detail::cli
