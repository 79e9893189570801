// SPDX-License-Identifier: Apache-2.0
// A trainer's adapters in PEFT's files.
#include <algorithm>

#include "sinter/error.hpp"
#include "sinter/trainer/core.hpp"
#include "trainer/adapter_config.hpp"
#include "trainer/export_folder.hpp"
#include "trainer/flat_tensors.hpp"

namespace sinter {
using namespace detail;

namespace {

constexpr const char* adapter_file = "adapter_model.safetensors";
constexpr const char* adapter_config_file = "adapter_config.json";

/// What transformers writes in front of the names of a model's parameters. The names of some models
/// have it already.
std::string prefix_of(const std::vector<Parameter>& parameters, const HuggingFace& names) {
  const bool is_there = std::ranges::any_of(
      parameters, [&](const Parameter& p) { return p.name.starts_with(names.prefix); });
  return is_there ? "" : names.prefix;
}
/// What PEFT writes in front of that.
const std::string peft = "base_model.model.";

void require_lora(const RecipeView& recipe) {
  if (!recipe.lora)
    throw ArgumentError(
        "the recipe '" + recipe.name +
        "' has no adapters. Add Lora<{.rank = 8}, Targets<\"*.c_attn\">> to it, with "
        "the adapter's own rank and targets.");
}

/// The name of a parameter's layer, with what transformers has in front of it.
std::string layer_name(const std::string& prefix, const Parameter& p) {
  const std::string_view own = p.layer->params[std::size_t(p.number)].name;
  const std::size_t end = p.name.size() - std::min(p.name.size(), own.size() + 1);
  return prefix + p.name.substr(0, end);
}

AdapterFacts facts_of(const std::vector<Parameter>& parameters, const std::string& prefix,
                      const std::string& base) {
  AdapterFacts facts{.base = base};
  for (const Parameter& p : parameters) {
    if (p.frozen) continue;
    std::vector<std::string>& list = p.adapter ? facts.targets : facts.saved;
    std::string name = layer_name(prefix, p);
    if (list.empty() || list.back() != name) list.push_back(std::move(name));
    if (p.adapter) facts.fan_in_fan_out |= p.layer->fan_in_fan_out;
  }
  return facts;
}

/// The layers that are not trained whole.
std::vector<AdapterLayer> layers_of(const std::vector<Parameter>& parameters,
                                    const std::string& prefix) {
  std::vector<AdapterLayer> layers;
  for (const Parameter& p : parameters) {
    if (!p.frozen && !p.adapter) continue;
    std::string name = layer_name(prefix, p);
    if (layers.empty() || layers.back().name != name)
      layers.push_back({.name = std::move(name), .fan_in_fan_out = p.layer->fan_in_fan_out});
    layers.back().adapted |= p.adapter;
  }
  return layers;
}

}  // namespace

std::string TrainerCore::load_adapter(const std::filesystem::path& folder) {
  require_lora(*recipe_);
  const std::string prefix = prefix_of(parameters_, recipe_->hugging_face);
  const std::string notes = require_same_adapter(folder / adapter_config_file, *recipe_->lora,
                                                 layers_of(parameters_, prefix));
  {
    std::vector<Expected> expected;
    FlatTensors tensors(machines_, Access::write);
    tensors.add_expected("", expected);
    LoadRules rules;
    rules.optional_prefix = peft + prefix;
    load_tensors(folder / adapter_file, expected, rules);
  }
  clear_regions(machines_, plan().model);
  recipe_->reset_state();
  set_steps(0);
  return notes;
}

void TrainerCore::export_adapter(const std::filesystem::path& folder,
                                 const std::string& base) const {
  namespace fs = std::filesystem;
  require_lora(*recipe_);
  const HuggingFace& names = recipe_->hugging_face;
  if (names.config.empty())
    throw ArgumentError(
        "transformers has no architecture like this recipe's model, so that PEFT could "
        "load no adapter of it. Write the whole model.");
  require_new_folder(folder);
  const std::string prefix = prefix_of(parameters_, names);
  std::vector<TensorView> views;
  FlatTensors tensors(machines_, Access::read);
  tensors.add_trained_views(views);
  for (TensorView& view : views) view.name = peft + prefix + view.name;
  const AdapterFacts facts = facts_of(parameters_, prefix, base);
  write_folder_atomically(folder, [&](const fs::path& into) {
    write_safetensors(into / adapter_file, views);
    write_file_atomically(into / adapter_config_file,
                          adapter_config_text(*recipe_->lora, facts, names));
  });
}

}  // namespace sinter
