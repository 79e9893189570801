// SPDX-License-Identifier: Apache-2.0
// A trainer's files: weights as Hugging Face has them, and all that resuming needs.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "sinter/error.hpp"
#include "sinter/files/checkpoint.hpp"
#include "sinter/files/load.hpp"
#include "sinter/files/safetensors.hpp"
#include "sinter/files/weights.hpp"
#include "sinter/hardware/offload_memory.hpp"
#include "sinter/trainer/core.hpp"
#include "trainer/export_folder.hpp"
#include "trainer/flat_tensors.hpp"
#include "trainer/int8_values.hpp"
#include "trainer/load_rules.hpp"
#include "trainer/merge_adapters.hpp"
#include "trainer/saved_tensors.hpp"
#include "trainer/state_json.hpp"

namespace sinter {
using namespace detail;

namespace {

constexpr const char* weights_file = CheckpointContent::weights_file;
constexpr const char* state_file = CheckpointContent::state_file;
constexpr const char* config_file = CheckpointContent::config_file;

CheckpointContent content_of(const RecipeView& recipe, FlatTensors& tensors) {
  CheckpointContent content;
  content.config = config_text(recipe.hugging_face);
  tensors.add_views(Space::master, content.weights);
  for (int r = 0; r < int(recipe.plan->model.regions.size()); ++r)
    tensors.add_views(region(r), content.state);
  return content;
}

/// Checks that a checkpoint has state of this name for some parameter.
void require_state(const CheckpointReader& reader, std::string_view state) {
  if (reader.has(state_file)) {
    const SafetensorsFile file(reader.file(state_file));
    const std::string prefix = std::string(state) + ".";
    for (const TensorInfo& tensor : file.tensors())
      if (tensor.name.starts_with(prefix)) return;
  }
  throw FileError(reader.folder().string() + " has no state '" + std::string(state) +
                  "': no policy of the recipe that saved it keeps it (Average keeps 'ema'). Take "
                  "the weights as they are, without --average, or name a run with that policy.");
}

/// Loads a policy's state into the trained weights.
void load_in_place(FlatTensors tensors, const std::vector<Parameter>& parameters,
                   std::string_view state, const CheckpointReader& reader) {
  std::vector<Expected> expected;
  LoadRules rules;  // other state also has the parameters' names
  for (const Parameter& p : parameters) rules.ignored_suffixes.push_back("." + p.name);
  tensors.add_expected(std::string(state) + ".", expected);
  load_tensors(reader.file(state_file), expected, rules);
}

}  // namespace

void TrainerCore::show_content(const std::function<void(CheckpointContent)>& use) const {
  if (plan().training.program.empty()) require_not_int8(parameters_);
  FlatTensors tensors(machines_, Access::read);
  use(content_of(*recipe_, tensors));
}

void TrainerCore::copy_content(Snapshot& to) const {
  const auto tensors = std::make_shared<FlatTensors>(machines_, std::nullopt);
  if (tensors->are_copies()) to.clear();  // frees them before the next copies are made
  CheckpointContent content = content_of(*recipe_, *tensors);
  if (tensors->are_copies()) content.owner = tensors;
  content.copies = tensors;
  to.copy(machines_[0]->stream(), std::move(content));
}

std::string TrainerCore::info() const {
  return state_json(*recipe_, steps_, settings_.seed).dump();
}

void TrainerCore::add_facts(std::vector<Fact>& facts) const {
  auto state = state_json(*recipe_, 0, settings_.seed);
  state.at("options").erase("device.card");  // it differs between ranks
  for (const char* name : {"recipe", "policies", "options", "seed"}) {
    const auto& value = state.at(name);
    facts.push_back({name, value.is_string() ? value.get<std::string>() : value.dump()});
  }
  facts.push_back({"steps", std::to_string(settings_.steps)});
}

void TrainerCore::restore(const CheckpointReader& reader) {
  SavedState saved = read_state(reader.info(), reader.folder().string());
  if (saved.step != reader.step())
    throw FileError(fmt::format(
        "Cannot resume from {}: its manifest is of step {}, but its trainer of step {}. Resume "
        "from another checkpoint.",
        reader.folder().string(), reader.step(), saved.step));
  require_same_recipe(saved, *recipe_, reader.folder().string());
  require_readable_state(saved, *recipe_, reader.folder().string());
  std::vector<std::filesystem::path> files{reader.file(weights_file)};
  if (!plan().model.regions.empty()) files.push_back(reader.file(state_file));
  {
    std::vector<Expected> expected;
    FlatTensors tensors(machines_, Access::write);
    tensors.add_expected(Space::master, expected);
    for (int r = 0; r < int(plan().model.regions.size()); ++r)
      tensors.add_expected(region(r), expected);
    load_tensors(files, expected);
  }
  recipe_->reset_state();
  restore_state(saved, *recipe_);
  restore_length(saved, settings_.steps, *recipe_);
  settings_.seed = saved.seed;
  set_steps(saved.step);
}

void TrainerCore::roll_back(const CheckpointReader& reader) {
  std::vector<std::pair<Option, nlohmann::ordered_json>> kept;
  for (const Option& field : recipe_->run_state)
    if (field.slot == recipe_->recovers) kept.emplace_back(field, option_value(field));
  const std::int64_t length = recipe_->run_steps;  // perhaps another than when this was saved
  restore(reader);
  recipe_->run_steps = length;
  for (const auto& [field, value] : kept) set_option_value(field, value);
}

void TrainerCore::set_steps(std::int64_t steps) {
  steps_ = steps;
  for (auto& machine : machines_) {
    machine->set_updates(steps);
    if (plan().model.shards > 1) continue;  // each rank has its own already
    if (machine != machines_[0]) {
      copy_on_device(machine->stream(), machines_[0]->arena().data(), machine->arena().data(),
                     plan().training.persistent);
      if (OffloadMemory* offload = machine->parameters().offload())
        offload->copy(*machines_[0]->parameters().offload());
    }
    machine->parameters().cast_weights();
  }
}

void TrainerCore::save(const std::filesystem::path& folder) const {
  CheckpointWriter writer(folder);
  show_content([&](const CheckpointContent& content) { content.add_to(writer); });
  writer.commit(steps_, nlohmann::json{{"trainer", nlohmann::json::parse(info())}}.dump());
}

void TrainerCore::load(const std::filesystem::path& folder) { restore(CheckpointReader(folder)); }

std::string TrainerCore::load_weights(const std::filesystem::path& path, std::string_view state,
                                      MissingHead missing) {
  WeightsSource source = resolve_weights(path);
  if (!state.empty() && source.kind != WeightsSource::Kind::checkpoint)
    throw ArgumentError("there is no state '" + std::string(state) + "' in " + path.string() +
                        ": only checkpoints and runs' folders have it. Name one, "
                        "or take its weights as they are.");
  if (source.kind == WeightsSource::Kind::checkpoint) {
    const CheckpointReader verified(source.path);
    if (!state.empty()) require_state(verified, state);
  }
  if (!source.config.empty()) require_same_architecture(source.config, recipe_->hugging_face);
  const HuggingFace& names = recipe_->hugging_face;
  UnsharedHeads unshared;
  {
    std::vector<Expected> expected;
    FlatTensors tensors(machines_, Access::write);
    tensors.add_expected(Space::master, expected);
    if (!hold_adapters(source.files)) drop_adapters(expected, parameters_);
    unshared = load_tensors(source.files, expected, load_rules(names, missing));
  }
  if (!state.empty())
    load_in_place({machines_, Access::write}, parameters_, state, CheckpointReader(source.path));
  clear_regions(machines_, plan().model);
  recipe_->reset_state();
  set_steps(0);
  std::string message;
  for (const std::string& text : {source.taken, source.warning, to_string(unshared)})
    if (!text.empty()) message += (message.empty() ? "" : "\n") + text;
  return message;
}

void TrainerCore::export_to(const std::filesystem::path& folder, std::uint64_t shard_bytes) const {
  export_to(folder, ExportForm{.shard_bytes = shard_bytes});
}

void TrainerCore::export_to(const std::filesystem::path& folder, const ExportForm& form) const {
  namespace fs = std::filesystem;
  require_new_folder(folder);
  show_weights([&](std::span<const TensorView> views) {
    std::vector<TensorView> weights(views.begin(), views.end());
    if (form.dtype)
      for (TensorView& tensor : weights) write_as(tensor, *form.dtype);
    const Int8Tensors in_int8(views, form.int8);
    in_int8.replace(weights);
    write_folder_atomically(folder, [&](const fs::path& into) {
      write_shards(into, weights, form.shard_bytes);
      const std::string config = config_text(recipe_->hugging_face);
      if (form.finish) {
        form.finish(into, config);
      } else if (!config.empty()) {
        write_file_atomically(into / config_file, config);
      }
    });
  });
}

void TrainerCore::show_weights(const std::function<void(std::span<const TensorView>)>& use) const {
  if (plan().training.program.empty()) require_not_int8(parameters_);
  std::vector<TensorView> weights;
  FlatTensors tensors(machines_, Access::read);
  tensors.add_wide_views(weights);
  if (!recipe_->lora) return use(weights);
  const MergedWeights merged(weights, parameters_, *recipe_->lora);
  use(merged.views());
}

}  // namespace sinter
