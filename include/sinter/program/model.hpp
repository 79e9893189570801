// A traced model with the plans of its units, and the state that policies keep for its parameters.
#pragma once
#include <optional>

#include "sinter/program/kind.hpp"

namespace sinter {

/// What a policy keeps of one parameter. rows 0: nothing.
struct StateShape {
  Element element = Element::f32;
  int rows = 0, columns = 0;
  constexpr std::int64_t size() const { return std::int64_t(rows) * columns; }
  constexpr std::int64_t bytes() const { return size() * bytes_of(element); }
};

/// State of a policy: one element of this type for each parameter, flat, laid out as the master
/// weights; or, with `shape`, what that says of each parameter of a layer, one after the other.
/// owner: the policy, see tag_of.
struct Region {
  const char* name;
  Type type = Type::state;
  const void* owner = nullptr;
  std::optional<StateShape (*)(const Layer& layer, int parameter)> shape{};
};
/// An address that stands for a type.
template <class T>
inline constexpr char tag_of = 0;

/// Where the parameters of a unit begin in the flat buffers, in elements: those that are decayed,
/// and those that are not.
struct ParameterOffsets {
  int decayed = 0, undecayed = 0;
};

/// A traced graph with its plans. Master weights, gradients and each region are flat: first all
/// that is decayed, then all that is not, both with the units in `order`. Then come, among master
/// weights (and their copy) alone, the frozen units.
struct Model {
  std::span<const Node> nodes;
  std::span<const Local> locals;
  std::span<const Block> blocks;
  std::span<const Unit> units;
  std::span<const External> externals;
  std::span<const int> writers;  // of each value: its unit
  std::span<const int> results;
  std::span<const UnitPlan> plans;         // of the blocks; of copies that are kept whole
  std::span<const LayerCall> layer_calls;  // of the plans
  std::span<const short> order;  // units with parameters that are trained, as their gradients
                                 // become final
  std::span<const ParameterOffsets> offsets;  // by unit
  std::span<const Region> regions;
  Sizes sizes;
  Space weights =
      Space::master;          // where layers read them: a copy, or the master weights themselves
  bool keeps_weights = true;  // a copy of weights lives through all steps, cast once
  int decayed = 0, undecayed = 0, frozen = 0;  // elements in all

  constexpr int count() const { return int(units.size()); }
  constexpr const Block& block(int unit) const { return blocks[units[unit].block]; }
  constexpr const UnitPlan& plan(int unit) const { return plans[units[unit].plan]; }
  constexpr bool has_parameters(int unit) const { return block(unit).parameters > 0; }
  constexpr int elements() const { return decayed + undecayed; }
  constexpr int master_elements() const { return elements() + frozen; }
  /// Whether something must be told the gradient of a value.
  constexpr bool has_gradient(int value) const { return units[writers[value]].backward; }
  constexpr const Local& local(int value) const {
    const Unit& unit = units[writers[value]];
    const Block& b = blocks[unit.block];
    return locals[b.first_local + b.output[value - unit.first_value]];
  }
};

/// Calls visit(r) with the number of each region of a policy, in its order.
template <class Policy>
constexpr void for_each_region(const Model& model, auto visit) {
  for (int r = 0; r < int(model.regions.size()); ++r)
    if (model.regions[r].owner == &tag_of<Policy>) visit(r);
}

}  // namespace sinter
