// SPDX-License-Identifier: Apache-2.0
#include "cli/weights_fit.hpp"

#include "sinter/files/load.hpp"
#include "sinter/files/weights.hpp"
#include "sinter/plan/parameter.hpp"
#include "trainer/load_rules.hpp"
#include "trainer/state_json.hpp"

namespace sinter::detail::cli {

WeightsFit require_fit(const std::string& weights, const RecipeView& recipe) {
  const WeightsSource source = resolve_weights(weights);
  const HuggingFace& names = recipe.hugging_face;
  if (!source.config.empty()) require_same_architecture(source.config, names);
  std::vector<Expected> expected;
  for (Parameter& p : list_parameters(recipe.plan->model))  // master weights are floating point
    expected.push_back({std::move(p.name), std::move(p.shape), nullptr, Dtype::f32});
  UnsharedHeads unshared =
      check_tensors(source.files, expected, load_rules(names, MissingHead::starts_fresh));
  return {std::int64_t(expected.size() - unshared.fresh.size()), std::int64_t(source.files.size()),
          source.taken, source.warning, std::move(unshared)};
}

}  // namespace sinter::detail::cli
