// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "cli/arguments.hpp"
#include "cli/describe.hpp"
#include "cli/matmul_text.hpp"
#include "cli/plan_text.hpp"
#include "cli/savings.hpp"
#include "sinter/plan/parameter.hpp"
#include "sinter/recipe/savings.hpp"

namespace sinter::detail::cli {
namespace {

using Json = nlohmann::ordered_json;

Json policies_json(const RecipeView& recipe) {
  Json policies = Json::object();
  for (const std::string& policy : recipe.policies) {
    const std::size_t at = policy.find(": ");
    policies[policy.substr(0, at)] = policy.substr(at + 2);
  }
  return policies;
}

/// The range of each option that a flag can change.
Json ranges_json(const RecipeView& recipe) {
  Json ranges = Json::object();
  for (const Option& option : recipe.options)
    if (option.adjustable) ranges[option.dotted()] = range_text(option);
  return ranges;
}

Json parameters_json(const Model& model) {
  Json list = Json::array();
  for (const Parameter& p : list_parameters(model))
    list.push_back({{"name", p.name}, {"shape", p.shape}, {"size", p.size}});
  return list;
}

/// All buffers, the largest first; `first` and `last` are null if a buffer lives through all steps.
Json buffers_json(const PlanView& plan) {
  std::vector<Buffer> buffers(plan.training.buffers.begin(), plan.training.buffers.end());
  std::ranges::sort(buffers, {}, [](const Buffer& b) { return std::pair(-b.bytes, b.offset); });
  Json list = Json::array();
  for (const Buffer& b : buffers) {
    const bool always = b.opened_by < 0;
    list.push_back({{"name", buffer_name(plan.model, b)},
                    {"bytes", b.bytes},
                    {"offset", b.offset},
                    {"first", always ? Json(nullptr) : Json(b.first)},
                    {"last", always ? Json(nullptr) : Json(b.last)}});
  }
  return list;
}

Json odd_sizes_json(const RecipeView& recipe) {
  Json list = Json::array();
  for (const OddSize& size : odd_sizes(recipe))
    list.push_back({{"name", size.parameter}, {"rows", size.rows}, {"columns", size.columns}});
  return list;
}

/// The techniques that save memory, the one that costs the least time first.
Json try_first_json(const RecipeView& recipe) {
  std::vector<Saving> list = savings(*recipe.plan, recipe.alternatives());
  std::ranges::sort(list, {}, &Saving::total);
  std::erase_if(list, [](const Saving& s) { return s.cost == 0; });
  std::ranges::sort(list, {}, &Saving::cost);
  Json names = Json::array();
  for (const Saving& saving : list) names.push_back(saving.technique);
  return names;
}

}  // namespace

Json details_json(const RecipeView& recipe) {
  const PlanView& plan = *recipe.plan;
  Json details{{"policies", policies_json(recipe)},
               {"notes", recipe.notes()},
               {"ranks", recipe.ranks()},
               {"micro", plan.micro},
               {"micro_batches", recipe.global_batch() / (plan.micro * recipe.ranks())},
               {"rows", std::int64_t(plan.micro) * plan.context},
               {"flops_per_step", tokens_per_step(recipe) * plan.flops_per_token},
               {"libraries", resident_bytes()},
               {"try_first", try_first_json(recipe)},
               {"ranges", ranges_json(recipe)},
               {"odd_sizes", odd_sizes_json(recipe)},
               {"parameter_list", parameters_json(plan.model)},
               {"buffers", buffers_json(plan)}};
  if (plan.memory.offloaded > 0) details["offloaded_to"] = recipe.on_host ? "disk" : "host";
  return details;
}

}  // namespace sinter::detail::cli
