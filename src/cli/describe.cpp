// SPDX-License-Identifier: Apache-2.0
#include "cli/describe.hpp"
#include "cli/class_order.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/matmul_text.hpp"
#include "cli/output.hpp"
#include "cli/plan_text.hpp"
#include "cli/savings.hpp"
#include "cli/verbs.hpp"
#include "cli/weights_fit.hpp"
#include "cli/world_forecast.hpp"
#include "sinter/error.hpp"
#include "sinter/files/io.hpp"
#include "sinter/hardware/device.hpp"
#include "sinter/recipe/savings.hpp"
#include "sinter/trainer/core.hpp"
#include "trainer/encoded_texts.hpp"
#include "trainer/state_json.hpp"

namespace sinter::detail::cli {
namespace {

/// The device, and the library or unit that multiplies there. Speeds are measured if the device can
/// be used.
struct DeviceFacts {
  std::string text, problem;  // one of them is empty
  MatmulRate matmul;
};

DeviceFacts look_at_device(const RecipeView& recipe, int threads) {
  DeviceFacts facts;
  try {
    recipe.open_device();
    facts.text = device_text(threads > 0 ? threads : threads_by_default());
    facts.matmul = measure_matmul(recipe, threads);
  } catch (const Error& error) {
    facts.problem = error.what();
    facts.matmul = matmul_of(recipe);
  }
  return facts;
}

std::string device_lines(const DeviceFacts& facts) {
  return fmt::format("device  {}{}\n", facts.text, facts.problem) + matmul_text(facts.matmul);
}

/// Returns the forecast, if --world asks for one.
std::optional<WorldForecast> forecast_of(const RecipeView& recipe, const Arguments& a,
                                         const DeviceFacts& device) {
  if (!a.world_ranks) return std::nullopt;
  if (!device.problem.empty())
    throw Error("--world measures the device, and it cannot be used: " + device.problem);
  return forecast_world(recipe, a, device.matmul);
}

std::string json_text(const RecipeView& recipe, const Arguments& a, const WeightsFit& fit,
                      const DeviceFacts& device) {
  nlohmann::ordered_json memory = nlohmann::ordered_json::object(), options = memory,
                         hooks = memory, other = memory;
  for (const auto& [name, bytes] : memory_parts(recipe.plan->memory)) memory[name] = bytes;
  if (const std::int64_t bytes = recipe.plan->memory.offloaded) memory["offloaded"] = bytes;
  for (const Saving& s : savings(*recipe.plan, recipe.alternatives())) other[s.technique] = s.total;
  for (const Option& option : recipe.options) options[option.dotted()] = option_value(option);
  for (std::size_t k = 0; k < recipe.policies.size(); ++k)
    hooks[recipe.policies[k].substr(0, recipe.policies[k].find(':'))] = recipe.hooks[k];
  nlohmann::ordered_json result{{"recipe", recipe.name},
                                {"parameters", recipe.plan->parameters},
                                {"tokens_per_step", tokens_per_step(recipe)},
                                {"flops_per_token", recipe.plan->flops_per_token},
                                {"memory", memory},
                                {"evaluation_micro", recipe.plan->evaluation_micro},
                                {"savings", other},
                                {"options", options},
                                {"hooks", hooks}};
  if (const PlanView* const plan = recipe.reply_plan())
    result["replies"] = {{"memory", reply_bytes(recipe)}, {"rows", plan->max_texts}};
  if (recipe.quantized) {
    const Memory& in_int8 = recipe.quantized()->plan->memory;
    result["predict_in_int8"] = {{"memory", in_int8.total}, {"weights", in_int8.parameters}};
  }
  result["unplanned"] = unplanned_units(recipe.plan->model);
  result["snapshot"] = recipe.plan->memory.saved();
  result["device"] = {{"text", device.text}, {"problem", device.problem}};
  result["matmul"] = matmul_json(device.matmul);
  if (const auto world = forecast_of(recipe, a, device))
    result["world"] = world_json(recipe, a, *world);
  if (a.program) result["program"] = program_json(recipe);
  if (a.schedule) result["schedule"] = program_json(recipe);
  if (a.weights)
    result["weights"] = {{"path", *a.weights},
                         {"fit", true},
                         {"fresh", fit.unshared.fresh},
                         {"left_out", fit.unshared.left_out}};
  if (!fit.taken.empty()) result["weights"]["taken"] = fit.taken;
  if (a.weights) result["weights"].update({{"tensors", fit.tensors}, {"files", fit.files}});
  result.update(details_json(recipe));
  return result.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string weights_text(const std::string& path, const WeightsFit& fit) {
  const DataUnit tensor{"tensor", "tensors"}, file{"file", "files"};
  return fmt::format("weights {} fit: {} in {}\n", printable(path, 4096), tensor.count(fit.tensors),
                     file.count(fit.files));
}

}  // namespace

std::string buffer_name(const Model& model, const Buffer& buffer) {
  std::string space = buffer.space < Space::region
                          ? space_names[int(buffer.space)]
                          : model.regions[int(buffer.space) - int(Space::region)].name;
  if (buffer.index < 0 || buffer.space == Space::workspace) return space;
  if (buffer.space == Space::input) return fmt::format("input {}", buffer.index);
  bool of_value = buffer.space == Space::value || buffer.space == Space::d_value;
  return space + " of " + unit_name(model, of_value ? model.writers[buffer.index] : buffer.index);
}

std::string snapshot_text(const Memory& memory) {
  const std::int64_t bytes = memory.saved();
  return fmt::format(
      "        snapshot    {:>12}  {:>16} bytes beside these, while a checkpoint is written\n",
      bytes_text(bytes), thousands(bytes));
}

std::string options_text(const RecipeView& recipe) {
  std::string text = "options\n";
  for (const Option& option : recipe.options)
    text += fmt::format("        {:<28}{:<12}{}\n", option.dotted(), text_of(option),
                        option.adjustable ? "  " + range_text(option) : "  in the type");
  return text;
}

std::string hooks_text(const RecipeView& recipe) {
  std::string text = "hooks found in each policy\n";
  for (std::size_t k = 0; k < recipe.policies.size(); ++k) {
    const std::string names = fmt::format("{}", fmt::join(recipe.hooks[k], ", "));
    text += fmt::format("        {:<30}{}\n", recipe.policies[k], names.empty() ? "none" : names);
  }
  return text;
}

std::string parameters_text(const RecipeView& recipe) {
  std::string text = "parameters\n";
  for (const Parameter& p : list_parameters(recipe.plan->model)) {
    const std::string shape = fmt::format("{}", fmt::join(p.shape, " × "));
    text += fmt::format("        {:<32}{:>14}{:>14}\n", p.name, shape, thousands(p.size));
  }
  return text;
}

std::string buffers_text(const PlanView& plan) {
  constexpr std::size_t limit = 16;
  std::vector<Buffer> buffers(plan.training.buffers.begin(), plan.training.buffers.end());
  std::sort(buffers.begin(), buffers.end(), [](const Buffer& x, const Buffer& y) {
    return std::pair(-x.bytes, x.offset) < std::pair(-y.bytes, y.offset);
  });
  std::size_t shown = std::min(limit, buffers.size());
  std::string text =
      fmt::format("buffers of the training step, the largest {} of {}\n", shown, buffers.size());
  for (const Buffer& b : std::span(buffers).first(shown)) {
    std::string life = b.opened_by < 0 ? "always" : fmt::format("{} to {}", b.first, b.last);
    text += fmt::format("        {:<28}{:>12}  at {:>14}  {}\n", buffer_name(plan.model, b),
                        bytes_text(b.bytes), thousands(b.offset), life);
  }
  return text;
}

int describe(std::shared_ptr<RecipeView> recipe, const Arguments& a) {
  require_good_world(*recipe, a);
  WeightsFit fit;
  if (a.weights) {
    fit = require_fit(*a.weights, *recipe);
    note_lines(require_same_classes(*recipe, a));
  }
  note_lines(fit.taken);
  note_lines(fit.warning);
  note_lines(to_string(fit.unshared));
  const DeviceFacts device = look_at_device(*recipe, a.threads);
  if (a.json) {
    print_result(json_text(*recipe, a, fit, device));
    return exit_done;
  }
  std::string text = recipe_text(*recipe);
  if (a.weights) text += weights_text(*a.weights, fit);
  text += plan_text(*recipe) + snapshot_text(recipe->plan->memory) + device_lines(device) +
          odd_sizes_text(*recipe);
  if (const auto world = forecast_of(*recipe, a, device)) text += world_text(*recipe, a, *world);
  text += savings_text(*recipe) + options_text(*recipe) + hooks_text(*recipe) +
          parameters_text(*recipe) + buffers_text(*recipe->plan);
  if (a.program || a.schedule) text += program_text(*recipe);
  print_result(text);
  return exit_done;
}

}  // namespace sinter::detail::cli
