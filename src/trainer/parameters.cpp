// Names of units and instructions. Parameters by name: where they lie, how they start.
#include <algorithm>
#include <set>

#include "sinter/error.hpp"
#include "sinter/kernels/random.hpp"
#include "sinter/trainer/core.hpp"

namespace sinter {

std::string unit_name(const Model& model, int u) {
  const Unit& unit = model.units[u];
  if (*unit.name) return unit.name + (unit.index < 0 ? "" : "." + std::to_string(unit.index));
  std::string names;  // a unit without a name of its own is called by those of its layers
  for (const Node& node : model.nodes.subspan(model.block(u).first_node, model.block(u).nodes))
    names += (names.empty() ? "" : "+") + std::string(node.name);
  return names;
}

namespace {

/// Units whose flat parts (weights, gradients, state) or values an instruction touches.
std::set<int> touched_units(const Model& model, const Instruction& i) {
  TouchList list;
  i.kind->touch(model, i, list);
  std::set<int> units;
  for (const Touch& touch : list) {
    if (touch.space == Space::input || touch.index < 0) continue;
    bool of_value = touch.space == Space::value || touch.space == Space::d_value;
    units.insert(of_value ? model.writers[touch.index] : touch.index);
  }
  return units;
}

}  // namespace

std::string subject(const Model& model, const Instruction& i) {
  if (i.kind->phases != 0) return unit_name(model, i.what);
  std::string text;
  std::set<int> units = touched_units(model, i);
  for (auto first = units.begin(); first != units.end();) {
    auto last = first;
    for (auto next = std::next(last); next != units.end() && *next == *last + 1; ++next)
      last = next;
    text += (text.empty() ? "" : ", ") + unit_name(model, *first);
    if (*last != *first) text += " … " + unit_name(model, *last);
    first = std::next(last);
  }
  return text;
}

std::vector<Parameter> list_parameters(const Model& model) {
  std::vector<Parameter> result;
  for (int u = 0; u < model.count(); ++u) {
    const Unit& unit = model.units[u];
    const Block& block = model.block(u);
    std::string prefix = *unit.name ? unit_name(model, u) + "." : "";
    for (const Node& node : model.nodes.subspan(block.first_node, block.nodes))
      for (int p = 0; p < node.layer->param_count && !node.tied; ++p) {
        const Param& param = node.layer->params[p];
        const Group& group = model.groups[u];
        std::string name = prefix + (*node.name ? std::string(node.name) + "." : "") + param.name;
        std::vector<std::int64_t> shape{param.columns};
        if (param.matrix) shape.insert(shape.begin(), param.rows);
        std::int64_t offset = node.offset[p] + (param.matrix ? group.decayed : group.undecayed);
        result.push_back({name, shape, offset, param.size(), param.init, param.matrix});
      }
  }
  return result;
}

namespace {

/// A key of the seed and the name, so that a parameter starts the same whatever stands beside it.
std::uint64_t key_of(std::uint64_t seed, std::string_view name) {
  std::uint64_t key = kernel::mix(seed);
  for (char c : name) key = kernel::mix(key + static_cast<unsigned char>(c));
  return key;
}

/// The same numbers in every type, to rounding.
template <class T>
void fill(T* data, const Parameter& p, std::uint64_t seed) {
  std::uint64_t key = key_of(seed, p.name);
  switch (p.init.how) {
    case Init::zeros:
      return void(std::fill_n(data, p.size, T(0)));
    case Init::ones:
      return void(std::fill_n(data, p.size, T(1)));
    case Init::normal:
      return kernel::fill_normal(data, p.size, 0.0, double(p.init.scale), key);
    case Init::uniform:
      for (std::int64_t k = 0; k < p.size; ++k) {
        double unit = double(kernel::mix(key + std::uint64_t(k)) >> 11) * 0x1p-53;
        data[k] = T((2 * unit - 1) * p.init.scale);
      }
  }
}

/// Calls visit with the element type of a space.
template <class Visit>
void with_element(const Model& model, Space space, Visit visit) {
  switch (model.sizes.element[int(type_of(model, space))]) {
    case Element::f32:
      return visit(float());
    case Element::f64:
      return visit(double());
    default:
      throw Error("Sinter: parameters of this element type cannot be read by name.");
  }
}

}  // namespace

void TrainerCore::initialise() {
  for (auto& machine : machines_)
    with_element(plan().model, Space::master, [&](auto element) {
      auto* flat = machine->template flat<decltype(element)>(Space::master);
      for (const Parameter& p : parameters_) fill(flat + p.offset, p, settings_.seed);
      machine->masters_changed();
    });
}

const Parameter& TrainerCore::find(std::string_view name) const {
  for (const Parameter& p : parameters_)
    if (p.name == name) return p;
  throw ArgumentError("Sinter: the model has no parameter named '" + std::string(name) + "'.");
}

std::vector<double> TrainerCore::read(Space space, std::string_view name) const {
  const Parameter& p = find(name);
  std::vector<double> values(std::size_t(p.size));
  with_element(plan().model, space, [&](auto element) {
    auto* from = machines_[0]->template flat<decltype(element)>(space) + p.offset;
    std::copy_n(from, p.size, values.begin());
  });
  return values;
}

std::vector<double> TrainerCore::parameter(std::string_view name) const {
  return read(Space::master, name);
}
std::vector<double> TrainerCore::gradient(std::string_view name) const {
  return read(Space::gradient, name);
}

std::vector<double> TrainerCore::state(std::string_view name, std::string_view parameter) const {
  const std::span<const Region> regions = plan().model.regions;
  for (int r = 0; r < int(regions.size()); ++r)
    if (regions[r].name == name) return read(region(r), parameter);
  throw ArgumentError("Sinter: no policy of this recipe keeps state named '" + std::string(name) +
                      "'.");
}

void TrainerCore::set_parameter(std::string_view name, std::span<const double> values) {
  const Parameter& p = find(name);
  if (std::int64_t(values.size()) != p.size)
    throw ArgumentError("Sinter: '" + p.name + "' has " + std::to_string(p.size) +
                        " numbers, not " + std::to_string(values.size()) + ".");
  for (auto& machine : machines_)
    with_element(plan().model, Space::master, [&](auto element) {
      auto* to = machine->template flat<decltype(element)>(Space::master) + p.offset;
      std::copy(values.begin(), values.end(), to);
      machine->cast_weights({p.offset, p.size});
    });
}

}  // namespace sinter
