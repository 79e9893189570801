// SPDX-License-Identifier: Apache-2.0
// A trainer in files: weights as Hugging Face has them, and all that a resume needs.
#include <algorithm>
#include <deque>
#include <nlohmann/json.hpp>
#include <optional>

#include "sinter/device/away_memory.hpp"
#include "sinter/error.hpp"
#include "sinter/files/checkpoint.hpp"
#include "sinter/files/load.hpp"
#include "sinter/files/safetensors.hpp"
#include "sinter/files/weights.hpp"
#include "sinter/trainer/core.hpp"
#include "trainer/load_rules.hpp"
#include "trainer/state_json.hpp"
#include "trainer/whole_values.hpp"

namespace sinter {

namespace {

constexpr const char* weights_file = CheckpointContent::weights_file;
constexpr const char* state_file = CheckpointContent::state_file;
constexpr const char* config_file = CheckpointContent::config_file;

std::string config_text(const HuggingFace& architecture) {
  return architecture.config.empty() ? "" : config_json(architecture).dump(2) + "\n";
}

Dtype dtype_of_element(Element element) {
  switch (element) {
    case Element::f32:
      return Dtype::f32;
    case Element::f64:
      return Dtype::f64;
    case Element::f16:
      return Dtype::f16;
    case Element::bf16:
      return Dtype::bf16;
    case Element::i32:
      return Dtype::i32;
    case Element::u8:
      return Dtype::u8;
  }
  throw Error("Sinter: an element type without a name in files.");
}

/// The parameters' parts of persistent spaces, as tensors: with an access, the host may reach them
/// while this lives; without one, they are where the device has them. Parts without elements are
/// left out. Of a model that is split over ranks, tensors are copies in any case, taken from all ranks.
class FlatTensors {
  using Machines = std::span<const std::unique_ptr<Machine>>;
  struct Copy {
    Space space;
    const Parameter* parameter;
    std::vector<std::byte> values;
  };

  const Machines machines;
  Machine& machine = *machines[0];
  const std::vector<Parameter>& parameters;
  std::optional<Access> access;
  std::vector<OnHost> parts;
  std::deque<Copy> copies;
  WholeValues whole{machines};

 public:
  FlatTensors(Machines m, const std::vector<Parameter>& p, std::optional<Access> a)
      : machines(m), parameters(p), access(a) {}

  /// Whether the tensors are copies, which live as long as this.
  bool are_copies() const { return machine.model().shards > 1; }

  void add_views(Space space, std::vector<TensorView>& list) {
    visit(space, [&](const std::string& name, const auto& shape, const StateShape& stored,
                     const std::byte* data) {
      list.push_back(
          {name, dtype_of_element(stored.element), shape, data, std::size_t(stored.bytes())});
    });
  }
  void add_expected(Space space, std::vector<Expected>& list) {
    visit(space, [&](const std::string& name, const auto& shape, const StateShape& stored,
                     std::byte* data) {
      list.push_back({name, shape, data, dtype_of_element(stored.element)});
    });
  }
  /// The same of one parameter, whose name has something before it.
  void add_expected(Space space, const Parameter& p, const std::string& before,
                    std::vector<Expected>& list) {
    const StateShape stored = machine.shape(space, p);
    list.push_back({before + p.name, p.shape, data_of(space, p), dtype_of_element(stored.element)});
  }
  /// Gives each rank its own of what has been written to copies.
  void put_copies() {
    for (const Copy& copy : copies)
      for (const auto& each : machines) each->put(copy.space, *copy.parameter, copy.values.data());
  }

 private:
  std::string name(Space space, const Parameter& p) const {
    if (space < Space::region) return p.name;
    return std::string(machine.model().regions[int(space) - int(Space::region)].name) + "." +
           p.name;
  }
  /// A part with as many elements as the parameter has the parameter's shape.
  static std::vector<std::int64_t> shape_of(const Parameter& p, const StateShape& shape) {
    if (shape.size() == p.size) return p.shape;
    if (shape.rows == 1) return {shape.columns};
    return {shape.rows, shape.columns};
  }
  void visit(Space space, auto visitor) {
    for (const Parameter& p : parameters)
      if (const StateShape shape = machine.shape(space, p); shape.size() > 0)
        visitor(name(space, p), shape_of(p, shape), shape, data_of(space, p));
  }
  std::byte* data_of(Space space, const Parameter& p) {
    const bool is_away = machine.model().is_away(space);
    // A rank that does not update has no place for state from outside of the arena.
    if (are_copies() || (is_away && access == Access::write && !machine.has_away())) {
      copies.push_back({space, &p, {}});
      // Files may lack some of what is to be written.
      copies.back().values =
          access == Access::write ? whole.known_of(space, p) : whole.of(space, p);
      return copies.back().values.data();
    }
    if (is_away) {
      require_kept(machine, space, p);
      const std::int64_t at = p.state[std::size_t(int(space) - int(Space::region))].offset;
      return machine.away_bytes(space).data() + at;
    }
    const Machine::Part part = machine.part(space, p);
    if (access != Access::write) require_kept(machine, space, p);
    if (!access) return part.data;
    parts.push_back(machine.on_host(part, *access));
    return parts.back().data();
  }
};

CheckpointContent content_of(const RecipeView& recipe, FlatTensors& tensors) {
  CheckpointContent content;
  content.config = config_text(recipe.hugging_face);
  tensors.add_views(Space::master, content.weights);
  for (int r = 0; r < int(recipe.plan->model.regions.size()); ++r)
    tensors.add_views(region(r), content.state);
  return content;
}

/// Checks that a checkpoint has state of this name of some parameter.
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

/// Loads state of a policy into the weights that are trained.
void load_in_place(FlatTensors tensors, const std::vector<Parameter>& parameters,
                   std::string_view state, const CheckpointReader& reader) {
  std::vector<Expected> expected;
  LoadRules rules;  // other state has the parameters' names, too
  for (const Parameter& p : parameters) {
    rules.ignored_suffixes.push_back("." + p.name);
    if (!p.frozen) tensors.add_expected(Space::master, p, std::string(state) + ".", expected);
  }
  load_tensors(reader.file(state_file), expected, rules);
  tensors.put_copies();
}

}  // namespace

void TrainerCore::show_content(const std::function<void(CheckpointContent)>& use) const {
  FlatTensors tensors(machines_, parameters_, Access::read);
  use(content_of(recipe_, tensors));
}

void TrainerCore::copy_content(Snapshot& to) const {
  const auto tensors = std::make_shared<FlatTensors>(machines_, parameters_, std::nullopt);
  if (tensors->are_copies()) to.clear();  // before the next ones are made
  CheckpointContent content = content_of(recipe_, *tensors);
  if (tensors->are_copies()) content.owner = tensors;
  to.copy(machines_[0]->stream(), std::move(content));
}

std::string TrainerCore::info() const { return state_json(recipe_, steps_, settings_.seed).dump(); }

void TrainerCore::add_facts(std::vector<Fact>& facts) const {
  const auto state = state_json(recipe_, 0, settings_.seed);
  for (const char* name : {"recipe", "policies", "options", "seed"})
    facts.push_back({name, state.at(name).dump()});
}

void TrainerCore::restore(const CheckpointReader& reader) {
  SavedState saved = read_state(reader.info(), reader.folder().string());
  if (saved.step != reader.step())
    throw FileError("Cannot resume from " + reader.folder().string() +
                    ": its manifest is of step " + std::to_string(reader.step()) +
                    ", but its trainer of step " + std::to_string(saved.step) +
                    ". Resume from another checkpoint.");
  require_same_recipe(saved, recipe_, reader.folder().string());
  require_readable_state(saved, recipe_, reader.folder().string());
  std::vector<std::filesystem::path> files{reader.file(weights_file)};
  if (!plan().model.regions.empty()) files.push_back(reader.file(state_file));
  {
    std::vector<Expected> expected;
    FlatTensors tensors(machines_, parameters_, Access::write);
    tensors.add_expected(Space::master, expected);
    for (int r = 0; r < int(plan().model.regions.size()); ++r)
      tensors.add_expected(region(r), expected);
    load_tensors(files, expected);
    tensors.put_copies();
  }
  recipe_.state.reset();
  restore_state(saved, recipe_);
  settings_.seed = saved.seed;
  set_steps(saved.step);
}

void TrainerCore::roll_back(const CheckpointReader& reader) {
  std::vector<std::pair<Option, nlohmann::ordered_json>> kept;
  for (const Option& field : recipe_.state.fields)
    if (field.slot == recipe_.state.recovers) kept.emplace_back(field, option_value(field));
  restore(reader);
  for (const auto& [field, value] : kept) set_option_value(field, value);
}

void TrainerCore::set_steps(std::int64_t steps) {
  steps_ = steps;
  for (auto& machine : machines_) {
    machine->set_updates(steps);
    if (plan().model.shards > 1) continue;  // each has its own already
    if (machine != machines_[0]) {
      copy_on_device(machine->stream(), machines_[0]->arena().data(), machine->arena().data(),
                     plan().training.persistent);
      if (machine->has_away()) machine->away().copy(machines_[0]->away());
    }
    machine->masters_changed();
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
    throw ArgumentError("Sinter: there is no state '" + std::string(state) + "' in " +
                        path.string() +
                        ": only checkpoints and runs' folders have it. Name one, "
                        "or take its weights as they are.");
  if (source.kind == WeightsSource::Kind::checkpoint) {
    const CheckpointReader verified(source.path);
    if (!state.empty()) require_state(verified, state);
  }
  if (!source.config.empty()) require_same_architecture(source.config, recipe_.hugging_face);
  const HuggingFace& names = recipe_.hugging_face;
  UnsharedHeads unshared;
  {
    std::vector<Expected> expected;
    FlatTensors tensors(machines_, parameters_, Access::write);
    tensors.add_expected(Space::master, expected);
    unshared = load_tensors(source.files, expected, load_rules(names, missing));
    tensors.put_copies();
  }
  if (!state.empty())
    load_in_place({machines_, parameters_, Access::write}, parameters_, state,
                  CheckpointReader(source.path));
  for (auto& machine : machines_) {
    order_after_copies(machine->stream());
    if (machine->has_away()) machine->away().clear();
    for (int r = 0; r < int(plan().model.regions.size()); ++r) {
      if (plan().model.is_away(region(r))) continue;
      clear_on_device(machine->stream(), machine->flat<std::byte>(region(r)).data,
                      flat_bytes(plan().model, region(r)));
    }
  }
  recipe_.state.reset();
  set_steps(0);
  return source.warning + (source.warning.empty() ? "" : "\n") + to_string(unshared);
}

void TrainerCore::export_to(const std::filesystem::path& folder, std::uint64_t shard_bytes) const {
  namespace fs = std::filesystem;
  if (fs::exists(folder) && (!fs::is_directory(folder) || !fs::is_empty(folder)))
    throw FileError("Cannot export to " + folder.string() +
                    ": it exists and is not an empty folder. Name a new folder; nothing was "
                    "changed.");
  std::vector<TensorView> weights;
  FlatTensors tensors(machines_, parameters_, Access::read);
  tensors.add_views(Space::master, weights);
  write_folder_atomically(folder, [&](const fs::path& into) {
    write_shards(into, weights, shard_bytes);
    if (const std::string config = config_text(recipe_.hugging_face); !config.empty())
      write_file_atomically(into / config_file, config);
  });
}

}  // namespace sinter
