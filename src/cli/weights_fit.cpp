// SPDX-License-Identifier: Apache-2.0
#include "cli/weights_fit.hpp"

#include "sinter/files/load.hpp"
#include "sinter/files/weights.hpp"
#include "sinter/plan/parameter.hpp"
#include "trainer/load_rules.hpp"
#include "trainer/merge_adapters.hpp"
#include "trainer/state_json.hpp"

namespace sinter::detail::cli {

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

std::string load_weights_of(TrainerCore& trainer, const Arguments& a) {
  std::string lines = trainer.load_weights(*a.weights, a.average ? "ema" : "");
  const std::string more = a.adapter ? trainer.load_adapter(*a.adapter) : "";
  if (!lines.empty() && !more.empty()) lines += "\n";
  return lines + more;
}

}  // namespace sinter::detail::cli
